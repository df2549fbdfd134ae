"""A half-written .npy file that survives being killed: rows on disk first, then a note of how many there are."""

from __future__ import annotations

import io
import os
import shutil
import sys
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from vse_zoo.errors import DataError, located
from vse_zoo.files import read_json, write_json

__all__ = ["PartialArray"]


class PartialArray:
    """An (N, …) array in ``folder/regions.npy``, appended batch by batch.

    ``key`` says what is being written. After a kill, opening it again with the same key continues at ``done``; any
    other key starts over and prints why. Rows are written, not mapped, so memory does not grow with the file.
    """

    def __init__(self, folder: Path, key: dict[str, Any], shape: tuple[int, ...], dtype: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / "regions.npy"
        self._partial = folder / "regions.partial.npy"
        self._note = folder / "extraction.json"
        self._key = key
        self._shape = shape
        self._dtype = np.dtype(dtype)
        self._row_bytes = int(np.prod(shape[1:])) * self._dtype.itemsize
        self.done = 0
        self.left_out: dict[str, str] = {}
        reason = self._resume()
        if reason:
            print(f"{folder}: starting over, {reason}.", file=sys.stderr)
        if not self.finished and self.done == 0:
            self._start()

    @property
    def finished(self) -> bool:
        """Whether every row is there and the file has its final name."""
        return self.done == self._shape[0] and self.path.is_file()

    def append(self, rows: np.ndarray, left_out: dict[str, str]) -> None:
        """Writes ``rows`` behind the last ones; once it returns, a kill doesn't lose them."""
        with self._partial.open("r+b") as file:
            file.seek(len(self._header) + self.done * self._row_bytes)
            file.write(np.ascontiguousarray(rows, self._dtype).data)
            file.flush()
            os.fsync(file.fileno())
        self.left_out |= left_out
        self._write_note(self.done + len(rows))

    def finish(self) -> None:
        """Gives the complete file its final name."""
        os.replace(self._partial, self.path)

    def discard(self) -> None:
        """Forgets all rows: the next run starts over."""
        for path in (self._note, self._partial, self.path):
            path.unlink(missing_ok=True)

    def _resume(self) -> str | None:
        """Takes over an earlier run's rows; otherwise says why not, or None where there is nothing to lose."""
        if not self._note.is_file():
            return None
        try:
            note = read_json(self._note)
            key, done, left_out = note["key"], int(note["done"]), dict(note["left_out"])
        except (DataError, KeyError, TypeError, ValueError):
            return "its note of the earlier run can't be read"
        different = sorted(name for name in self._key.keys() | key.keys() if self._key.get(name) != key.get(name))
        if different:
            return f"the earlier run differs in {', '.join(different)}"
        size = len(self._header) + done * self._row_bytes
        rows = self.path if done == self._shape[0] and self.path.is_file() else self._partial
        if not rows.is_file() or rows.stat().st_size < size:
            return "the rows of the earlier run are missing" if done else None
        self.done, self.left_out = done, left_out
        return None

    def _start(self) -> None:
        needed = len(self._header) + self._shape[0] * self._row_bytes
        self._partial.unlink(missing_ok=True)
        free = shutil.disk_usage(self._partial.parent).free
        if free < needed:
            problem = f"needs {needed / 1e9:.2f} GB, and {free / 1e9:.2f} GB are free."
            raise DataError(located(self._partial, problem, do="Free some space or write elsewhere."))
        self._partial.write_bytes(self._header)
        self._write_note(0)

    @cached_property
    def _header(self) -> bytes:
        buffer = io.BytesIO()
        fields = {"descr": np.lib.format.dtype_to_descr(self._dtype), "fortran_order": False, "shape": self._shape}
        np.lib.format.write_array_header_1_0(buffer, fields)
        return buffer.getvalue()

    def _write_note(self, done: int) -> None:
        write_json(self._note, {"key": self._key, "done": done, "left_out": self.left_out})
        self.done = done
