"""Notices of absent GPUs are left out of standard error on the command line, and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from vse_zoo import quiet

NOTICE = b"E0000 cuda_platform.cc:52] failed call to cuInit: INTERNAL: CUDA error\n"
OTHER = b"W0000 something else\n"


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a process that hasn't imported TensorFlow, on a machine without a driver."""
    monkeypatch.delitem(sys.modules, "tensorflow", raising=False)
    monkeypatch.setattr(quiet, "_DRIVERS", ())
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    monkeypatch.setenv("TF_CPP_MIN_LOG_LEVEL", "2")


def waits() -> bool:
    return any(isinstance(finder, quiet._QuietTensorFlow) for finder in sys.meta_path)


def test_only_the_notices_are_left_out(capfd: pytest.CaptureFixture[str]) -> None:
    with quiet._without_notices():
        os.write(2, NOTICE + OTHER)
    os.write(2, NOTICE)
    assert capfd.readouterr().err.encode() == OTHER + NOTICE


def test_a_failed_import_shows_what_it_said(capfd: pytest.CaptureFixture[str]) -> None:
    def fail() -> None:
        with quiet._without_notices():
            os.write(2, NOTICE + OTHER)
            raise ImportError

    with pytest.raises(ImportError):
        fail()
    assert capfd.readouterr().err.encode() == OTHER


def test_it_waits_for_the_import_and_lets_other_modules_pass(fresh: None) -> None:
    quiet.hide_gpu_notices()
    assert waits()
    assert sys.meta_path[0].find_spec("json", None) is None
    assert waits()


@pytest.mark.parametrize("where", ["a driver", "a lower level", "already imported"])
def test_all_is_shown_where_it_matters(
    where: str, fresh: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if where == "a driver":
        monkeypatch.setattr(quiet, "_DRIVERS", (tmp_path,))
    elif where == "a lower level":
        monkeypatch.setenv("TF_CPP_MIN_LOG_LEVEL", "0")
    else:
        monkeypatch.setitem(sys.modules, "tensorflow", quiet)
    quiet.hide_gpu_notices()
    assert not waits()


def test_a_level_that_is_not_set_becomes_that_of_errors(fresh: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TF_CPP_MIN_LOG_LEVEL")
    quiet.hide_gpu_notices()
    assert os.environ["TF_CPP_MIN_LOG_LEVEL"] == "2"


def said_by(script: str) -> str:
    """What a process that runs a script says on standard error."""
    environment = {name: value for name, value in os.environ.items() if name != "TF_CPP_MIN_LOG_LEVEL"}
    arguments = [sys.executable, "-c", script]
    return subprocess.run(arguments, check=True, capture_output=True, text=True, env=environment).stderr


def test_a_command_without_a_gpu_says_nothing_of_it() -> None:
    """On a machine with a driver, whatever TensorFlow says of it is right."""
    said = said_by("from vse_zoo.quiet import hide_gpu_notices\nhide_gpu_notices()\nimport keras; keras.ops.ones(3)")
    assert not said or any(driver.exists() for driver in quiet._DRIVERS)


def test_importing_the_library_leaves_standard_error_alone() -> None:
    """What another thread writes there while the library is imported is shown at once."""
    script = (
        "import os\n"
        "def refuse(*arguments): raise AssertionError('standard error was redirected')\n"
        "os.dup2 = refuse\nimport vse_zoo\nvse_zoo.layers.TiedDense\nvse_zoo.load"
    )
    said_by(script)
