"""A file of word vectors as a stream of bytes, unpacked where it is gzipped, with a bar of what was read on disk."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from vse_zoo.errors import DataError, located
from vse_zoo.progress import Bar, progress

__all__ = ["ByteStream", "open_stream"]

_GZIP = b"\x1f\x8b"
_BUFFER = 1 << 20
_MEGABYTE = 1 << 20


class ByteStream:
    """Reads an open file; a gzip file that is damaged or cut short is a `DataError`, whenever it shows."""

    def __init__(self, path: Path, raw: Any, bar: Bar) -> None:
        self.path = path
        self._raw = raw
        self._bar = bar
        self._shown = 0
        packed = raw.read(len(_GZIP)) == _GZIP
        raw.seek(0)
        unpacked: Any = gzip.GzipFile(fileobj=raw) if packed else raw
        self._file = io.BufferedReader(unpacked, _BUFFER)

    def peek(self) -> bytes:
        """Some of the coming bytes, none at the end; they will be read again."""
        return self._guarded(lambda: self._file.peek(_BUFFER))

    def line(self) -> bytes:
        """The next line with its line feed; empty at the end."""
        return self._guarded(self._file.readline)

    def read(self, size: int) -> bytes:
        """The next ``size`` bytes, fewer at the end."""
        return self._guarded(lambda: self._file.read(size))

    def _guarded(self, read: Callable[[], bytes]) -> bytes:
        try:
            found = read()
        except (EOFError, OSError, zlib.error) as error:
            problem = f"can't be read: damaged or cut short ({error})."
            raise DataError(located(self.path, problem, do="Download it again.")) from None
        reached = self._raw.tell() // _MEGABYTE
        if reached > self._shown:
            self._bar.advance(reached - self._shown)
            self._shown = reached
        return found


@contextmanager
def open_stream(path: Path) -> Iterator[ByteStream]:
    """Opens a file, packed or not; the bar counts megabytes of the file as it is on disk."""
    try:
        raw = path.open("rb", buffering=0)
    except FileNotFoundError:
        raise DataError(located(path, "no such file.")) from None
    except OSError as error:
        raise DataError(located(path, f"can't be opened ({error}).")) from None
    with raw, progress(f"{path.name} (MB)", path.stat().st_size // _MEGABYTE) as bar:
        yield ByteStream(path, raw, bar)
