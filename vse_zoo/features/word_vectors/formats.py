"""The rows of word-vector files: word2vec binary, word2vec and fastText text with a header, GloVe text without.

The format is recognised by the content. A header is a line of two whole numbers; a row of text holds a word, which may
contain spaces, and D numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from vse_zoo.errors import DataError, located
from vse_zoo.features.word_vectors.stream import ByteStream

__all__ = ["Row", "read_rows"]

_HEADER = re.compile(rb"(\d+) (\d+)\s*")
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_LOOKED_AT = 4096
_CHUNK = 1 << 22
_LONGEST_WORD = 10_000
_WHOLE = "Download it again, or convert it to word2vec's, fastText's or GloVe's format."


@dataclass(frozen=True)
class Row:
    """A word and its numbers, not yet parsed, since few words of a file are needed."""

    number: int
    word: bytes
    numbers: bytes
    binary: bool
    stream: ByteStream

    def vector(self) -> np.ndarray:
        """(D,) float32; a field that is no finite number is a `DataError`."""
        fields = [] if self.binary else self.numbers.split(b" ")
        try:
            values = np.array([float(field) for field in fields]) if fields else np.frombuffer(self.numbers, "<f4")
        except ValueError:
            place = next(i for i, field in enumerate(fields, 1) if not _is_number(field))
            raise self._bad(place, _shown(fields[place - 1])) from None
        if not np.isfinite(values).all():
            place = int(np.flatnonzero(~np.isfinite(values))[0]) + 1
            raise self._bad(place, str(values[place - 1]))
        return values.astype(np.float32)

    def _bad(self, place: int, found: str) -> DataError:
        problem = f"found {found} for the word {_shown(self.word)}, expected a finite number."
        return DataError(located(self.stream.path, problem, row=self.number, field=f"number {place}", do=_WHOLE))


def read_rows(stream: ByteStream) -> tuple[int, Iterator[Row]]:
    """The length D of the vectors and the rows, one at a time; `DataError` where the file is in no known format."""
    first = stream.line()
    if not first.strip():
        raise DataError(located(stream.path, "found no word vectors in the first line.", row=1, do=_WHOLE))
    header = _HEADER.fullmatch(first)
    if header is None:
        dim = _dim(first)
        if dim == 0 or _CONTROL.search(first[:_LOOKED_AT]):
            problem = f"found {_shown(first)}, expected a header 'words dimensions', or a word and its numbers."
            raise DataError(located(stream.path, problem, row=1, do=_WHOLE))
        return dim, _text_rows(stream, dim, first, None)
    count, dim = int(header[1]), int(header[2])
    if dim == 0:
        raise DataError(located(stream.path, "found 0 dimensions in the header.", row=1, do=_WHOLE))
    # Single-precision numbers hold bytes that no text does.
    if _CONTROL.search(stream.peek()[:_LOOKED_AT]):
        return dim, _binary_rows(stream, dim, count)
    return dim, _text_rows(stream, dim, stream.line(), count)


def _text_rows(stream: ByteStream, dim: int, line: bytes, count: int | None) -> Iterator[Row]:
    """Rows of text from ``line`` on; ``count`` of them by the header, if there is one."""
    header_lines = 0 if count is None else 1
    number = header_lines
    while line:
        number += 1
        line = line.rstrip(b" \r\n")
        # Counting is fast; only words with spaces, such as GloVe's '. . .', are split.
        spaces = line.count(b" ")
        if spaces < dim:
            problem = f"found {spaces} numbers after {_shown(line.split(b' ')[0])}, expected {dim}."
            raise DataError(located(stream.path, problem, row=number, field="vector", do=_WHOLE))
        word, numbers = line.split(b" ", 1) if spaces == dim else _split_from_the_right(line, dim)
        yield Row(number, word, numbers, False, stream)
        line = stream.line()
    rows = number - header_lines
    if count is not None and rows != count:
        problem = f"found {rows} rows, expected {count} by the header."
        raise DataError(located(stream.path, problem, row=number, do=_WHOLE))


def _split_from_the_right(line: bytes, dim: int) -> tuple[bytes, bytes]:
    word, *numbers = line.rsplit(b" ", dim)
    return word, b" ".join(numbers)


def _binary_rows(stream: ByteStream, dim: int, count: int) -> Iterator[Row]:
    """Rows of a word, a space and 4·D bytes; some writers put a line feed between rows."""
    buffer, start = b"", 0
    for number in range(1, count + 1):
        while True:
            space = buffer.find(b" ", start)
            end = space + 1 + 4 * dim
            if space >= 0 and end <= len(buffer):
                break
            if space < 0 and len(buffer) - start > _LONGEST_WORD:
                problem = f"found no space within {_LONGEST_WORD} bytes, expected one after the word."
                raise DataError(located(stream.path, problem, row=number, field="word", do=_WHOLE))
            chunk = stream.read(_CHUNK)
            if not chunk:
                problem = f"found the end of the file within this row, expected {count} rows by the header."
                raise DataError(located(stream.path, problem, row=number, do=_WHOLE))
            buffer, start = buffer[start:] + chunk, 0
        yield Row(number, buffer[start:space].lstrip(b"\n"), buffer[space + 1 : end], True, stream)
        start = end


def _dim(line: bytes) -> int:
    """How many numbers end a row whose first field is a word, whatever it looks like."""
    fields = line.rstrip(b" \r\n").split(b" ")
    words = [place for place, field in enumerate(fields) if place == 0 or not _is_number(field)]
    return len(fields) - 1 - words[-1]


def _is_number(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _shown(text: bytes) -> str:
    return repr(text[:40].decode("utf-8", "replace"))
