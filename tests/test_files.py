"""Files written whole or not at all, and what killed writers leave."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from vse_zoo.files import remove_leftovers, replacing, temporary_path


@pytest.fixture(scope="module")
def dead() -> int:
    """The number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("old")

    def write_half() -> None:
        with replacing(tmp_path / "a.txt") as temporary:
            temporary.write_text("half")
            raise KeyError

    with pytest.raises(KeyError):
        write_half()
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a.txt": "old"}


def test_leftovers_of_dead_processes_are_removed_and_nothing_else(dead: int, tmp_path: Path) -> None:
    kept = [f".{os.getppid()}.b.h5", ".hidden", ".git.d", "a.txt", f"{dead}.txt", f".{dead}"]
    for name in (*kept, f".{dead}.a.weights.h5", temporary_path(tmp_path / "c.npy").name):
        (tmp_path / name).write_text("")
    (tmp_path / f".{dead}.saving").mkdir()
    (tmp_path / f".{dead}.saving" / "config.json").write_text("{")
    (tmp_path / ".99999999999999999999.x").write_text("")
    remove_leftovers(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == set(kept)


def test_a_folder_that_is_not_there_has_no_leftovers(tmp_path: Path) -> None:
    remove_leftovers(tmp_path / "nothing")
