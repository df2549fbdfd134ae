"""Values with separators between them, as spreadsheets write them: the header shows which character separates."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from typing import Any

from vse_zoo.data.columns import Columns
from vse_zoo.errors import DataError, located

__all__ = ["ENDINGS", "separated_records"]

ENDINGS = {".csv": ",", ".txt": ",", ".tsv": "\t"}
"""Of file names, with the separator that is usual in such files."""
_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
_HEAD = 1 << 16
# Excel's own line before the header.
_DECLARED = re.compile(r'"?sep=(?P<separator>[^"\r\n])"?\r?\n', re.IGNORECASE)

Record = tuple[int, int, list[str]]


def separated_records(text: str, columns: Columns) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """The records of a table with a header: number, line, and values by column. Blank records are passed over.

    Args:
        text: of the file.
        columns: that the table should have.

    Raises:
        DataError: a column is missing, a record has more values than the header, or quotation marks don't close.
    """
    usual = ENDINGS[columns.path.suffix.lower()]
    separator = _separator(text, columns, usual)
    if separator != usual:
        columns.note(f"{columns.path.name}: the values are separated by {_SEPARATORS.get(separator, repr(separator))}.")
    records = _records(text, separator, columns)
    row, line, header = next(records, (0, 0, None))
    if header is None:
        problem = f"the file is empty, expected the columns: {', '.join(columns.names)}."
        raise DataError(located(columns.path, problem))
    columns.check(header, row, line)
    for row, line, cells in records:
        if any(map(str.strip, cells[len(header) :])):
            problem = f"found {len(cells)} values, expected {len(header)}: {', '.join(header)}."
            do = f"Quote values that contain {separator!r}."
            raise DataError(located(columns.path, problem, row=row, line=line, do=do))
        yield row, line, dict(zip(header, cells, strict=False))


def _separator(text: str, columns: Columns, usual: str) -> str:
    """The declared separator, else the one that parts most required columns in the header, the usual one first."""
    if declared := _DECLARED.match(text):
        return declared["separator"]

    def parted(separator: str) -> int:
        try:
            return columns.count(next(_records(text[:_HEAD], separator, columns))[2])
        except (StopIteration, DataError):
            return 0

    return max(dict.fromkeys((usual, *_SEPARATORS)), key=parted)


def _records(text: str, separator: str, columns: Columns) -> Iterator[Record]:
    """Number, line and values of every record that isn't blank; blank ones count too."""
    declared = _DECLARED.match(text)
    start = declared.end() if declared else 0
    reader = csv.reader(io.StringIO(text[start:], newline=""), delimiter=separator, strict=True)
    row, before = 0, int(bool(declared))
    while True:
        row, line = row + 1, before + reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            problem = f"found no table separated by {separator!r} ({error})."
            do = "Check the quotation marks there."
            raise DataError(located(columns.path, problem, row=row, line=line, do=do)) from None
        if any(map(str.strip, cells)):
            yield row, line, cells
