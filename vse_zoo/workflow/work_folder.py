"""A folder within a dataset folder for arrays that aren't whole yet."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["work_folder"]


@contextmanager
def work_folder(dataset: Path) -> Iterator[Path]:
    """An empty folder on the dataset's disk, removed at the end; what a killed job left there goes too."""
    folder = dataset / "copying"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
