"""Notices of absent GPUs are left out of standard error, and nothing else."""

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
def first_import(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As in a process that hasn't imported TensorFlow, on a machine without a driver."""
    monkeypatch.delitem(sys.modules, "tensorflow")
    monkeypatch.setattr(quiet, "_DRIVERS", ())
    monkeypatch.setenv("TF_CPP_MIN_LOG_LEVEL", "2")


def say() -> None:
    os.write(2, NOTICE + OTHER)


def test_only_the_notices_are_left_out(first_import: None, capfd: pytest.CaptureFixture[str]) -> None:
    with quiet.without_gpu_notices():
        say()
    say()
    assert capfd.readouterr().err.encode() == OTHER + NOTICE + OTHER


def test_a_failed_import_shows_what_it_said(first_import: None, capfd: pytest.CaptureFixture[str]) -> None:
    def fail() -> None:
        with quiet.without_gpu_notices():
            say()
            raise ImportError

    with pytest.raises(ImportError):
        fail()
    assert capfd.readouterr().err.encode() == OTHER


@pytest.mark.parametrize("where", ["a driver", "a lower level", "already imported"])
def test_all_is_shown_where_it_matters(
    where: str, first_import: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    if where == "a driver":
        monkeypatch.setattr(quiet, "_DRIVERS", (tmp_path,))
    elif where == "a lower level":
        monkeypatch.setenv("TF_CPP_MIN_LOG_LEVEL", "0")
    else:
        monkeypatch.setitem(sys.modules, "tensorflow", quiet)
    with quiet.without_gpu_notices():
        say()
    assert capfd.readouterr().err.encode() == NOTICE + OTHER


def test_a_process_without_a_gpu_says_nothing_of_it() -> None:
    """On a machine with a driver, whatever TensorFlow says of it is right."""
    script = "import vse_zoo, keras; keras.ops.ones(3)"
    said = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stderr
    assert not said or any(driver.exists() for driver in quiet._DRIVERS)


def test_a_level_that_is_not_set_becomes_that_of_errors(first_import: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TF_CPP_MIN_LOG_LEVEL")
    with quiet.without_gpu_notices():
        pass
    assert os.environ["TF_CPP_MIN_LOG_LEVEL"] == "2"
