"""Whole files or none: everything is written to a temporary name beside its target and renamed."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from vse_zoo.encodings import read_text
from vse_zoo.errors import DataError, located

__all__ = ["read_json", "remove_leftovers", "replacing", "temporary_path", "write_json", "write_text"]


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yields a temporary path in the same folder; renames it to ``path`` on success, removes it on any error.

    The temporary name keeps the suffixes of ``path``, since writers such as Keras and NumPy look at them.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = temporary_path(path)
    try:
        yield temporary
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def temporary_path(path: Path) -> Path:
    """Where this process writes what will be ``path``: hidden, beside it, with the process's number in front."""
    return path.with_name(f".{os.getpid()}.{path.name}")


def remove_leftovers(folder: Path) -> None:
    """Removes temporary files and folders directly in ``folder`` that killed processes left; those in use stay.

    Call it before this process writes there: what bears its number is of an earlier process, as in a new container.
    """
    for path in folder.glob(".*.*"):
        number, _, _ = path.name[1:].partition(".")
        if not number.isdecimal() or _is_another(int(number)):
            continue
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def _is_another(process: int) -> bool:
    """Whether a process other than this one has that number now."""
    if process == os.getpid():
        return False
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:  # of another user
        return True
    return True


def write_text(path: Path, text: str) -> None:
    """Writes ``text`` as UTF-8, atomically; its line ends stay as they are on every system."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="")


def write_json(path: Path, value: Any) -> None:
    """Writes ``value`` as indented JSON, atomically."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def read_json(path: Path, object_hook: Callable[[dict[str, Any]], Any] | None = None) -> Any:
    """Reads a JSON file in UTF-8, or in UTF-16 or UTF-32 with a byte-order mark.

    Args:
        path: the file.
        object_hook: called for each object, as by `json.loads`.

    Raises:
        DataError: the file is missing or malformed; the message names it.
    """
    try:
        return json.loads(read_text(path).text, object_hook=object_hook)
    except (json.JSONDecodeError, RecursionError) as error:
        raise DataError(located(path, f"not valid JSON ({error}).")) from None
