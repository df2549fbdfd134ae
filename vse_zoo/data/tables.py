"""Rows of CSV, TSV and JSONL files as people have them, each with its place, and lines of text files."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vse_zoo.data.columns import Columns
from vse_zoo.data.separated import ENDINGS, separated_records
from vse_zoo.encodings import ENCODING, read_text
from vse_zoo.errors import DataError, located

__all__ = ["Note", "Row", "lines", "split_lines", "table_rows"]

_JSONL = ".jsonl"
# JSON can escape halves of surrogate pairs, which no UTF-8 file can hold.
_SURROGATE = re.compile("[\ud800-\udfff]")

Note = Callable[[str], None]
"""Takes a sentence on how something was read, for people."""


def _silent(remark: str) -> None:
    """Drops a remark."""


@dataclass(frozen=True)
class Row:
    """A record of a table.

    Args:
        path: the table.
        number: of the record; the header is number 1, as in a spreadsheet.
        line: of the file, where the record begins. It is a higher one where earlier values hold line breaks.
        values: the text of each column, "" where it is absent.
    """

    path: Path
    number: int
    line: int
    values: dict[str, str]

    def error(self, problem: str, field: str | None = None, do: str | None = None) -> DataError:
        """The error that names this row."""
        return DataError(located(self.path, problem, row=self.number, line=self.line, field=field, do=do))


def lines(path: Path, encoding: str | None = None) -> list[str]:
    """The lines of a text file without their ends, in any encoding that `vse_zoo.encodings.decode_text` reads."""
    return split_lines(read_text(path, encoding, ENCODING).text)


def split_lines(text: str) -> list[str]:
    """The lines of a text without their ends, which may be those of Windows or, in the whole text, of old Macs."""
    # Not splitlines: it also splits at U+2028, U+0085 and form feeds, which occur inside captions.
    found = [line.removesuffix("\r") for line in text.split("\n" if "\n" in text else "\r")]
    return found[:-1] if not found[-1] else found


def table_rows(
    path: Path,
    required: Sequence[str],
    optional: Sequence[str] = (),
    encoding: str | None = None,
    note: Note = _silent,
) -> Iterator[Row]:
    """The rows of a table.

    The names of the columns may be in capitals, and stand in any order. Further columns are not read.

    Args:
        path: .csv, .txt or .tsv with a header line, whatever separates the values, or .jsonl with one object a line.
        required: columns that every row must fill.
        optional: columns that may be absent or empty.
        encoding: of a file without a byte-order mark that isn't UTF-8.
        note: gets a sentence on each further column, on another encoding than UTF-8, and on a separator that isn't
            usual in files of that ending.

    Raises:
        DataError: names the file, the row and the column.
    """
    ending = path.suffix.lower()
    if ending not in (*ENDINGS, _JSONL):
        problem = f"found the ending {path.suffix!r}, expected .csv, .tsv, .txt or .jsonl."
        raise DataError(located(path, problem, do="Save a spreadsheet as CSV."))
    text, used = read_text(path, encoding, ENCODING)
    if used != "UTF-8":
        note(f"{path.name} is read as {used}.")
    columns = Columns(path, required, optional, note)
    records = _json_records if ending == _JSONL else separated_records
    for number, line, values in records(text, columns):
        yield _checked(Row(path, number, line, columns.chosen(values)), required)
    columns.say_unread()


def _json_records(text: str, columns: Columns) -> Iterator[tuple[int, int, dict[str, Any]]]:
    path = columns.path
    for row, line in enumerate(split_lines(text), 1):
        if not line.strip():
            continue
        try:
            values = json.loads(line)
        except (json.JSONDecodeError, RecursionError) as error:
            raise DataError(located(path, f"not valid JSON ({error}).", row=row)) from None
        if not isinstance(values, dict):
            raise DataError(located(path, f"found {type(values).__name__}, expected an object.", row=row))
        columns.check(list(values), row, row)
        yield row, row, values


def _checked(row: Row, required: Sequence[str]) -> Row:
    """The row with its values stripped."""
    for name, value in row.values.items():
        if not isinstance(value, str):
            raise row.error(f"found {value!r}, expected text.", name)
        if _SURROGATE.search(value):
            raise row.error(f"found {value!r}, expected valid Unicode.", name)
        row.values[name] = value.strip()
        if name in required and not row.values[name]:
            raise row.error("found nothing, expected text.", name)
    return row
