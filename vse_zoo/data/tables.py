"""Rows of CSV, TSV and JSONL files, each with its line number, for the sources that read tables."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from vse_zoo.errors import DataError, located

__all__ = ["lines", "table_rows"]

_SEPARATORS = {".csv": ",", ".txt": ",", ".tsv": "\t"}
# JSON can escape halves of surrogate pairs, which no UTF-8 file can hold.
_SURROGATE = re.compile("[\ud800-\udfff]")

Rows = Iterator[tuple[int, dict[str, Any]]]


def lines(path: Path) -> list[str]:
    """The lines of a UTF-8 text file without their ends; a byte order mark is skipped."""
    # Not splitlines: it also splits at U+2028, U+0085 and form feeds, which occur inside captions.
    found = [line.removesuffix("\r") for line in _text(path).split("\n")]
    return found[:-1] if not found[-1] else found


def table_rows(
    path: Path, required: Sequence[str], optional: Sequence[str] = ()
) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of a table with the number of the line that each begins on.

    Args:
        path: .csv or .txt (comma), .tsv (tab) with a header line, or .jsonl with one object a line.
        required: columns that every row must fill.
        optional: columns that may be absent or empty; any other column is an error, since it may be a misspelt one.

    Raises:
        DataError: names the file, the row and the column.
    """
    if path.suffix.lower() not in (*_SEPARATORS, ".jsonl"):
        raise DataError(located(path, f"found the ending {path.suffix!r}, expected .csv, .tsv, .txt or .jsonl."))
    known = (*required, *optional)
    parsed = _jsonl(path, known) if path.suffix.lower() == ".jsonl" else _separated(path, required, known)
    for row, values in parsed:
        yield row, _checked(path, row, values, required, known)


def _text(path: Path) -> str:
    if not path.is_file():
        raise DataError(located(path, "no such file."))
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        row = error.object.count(b"\n", 0, error.start) + 1
        problem = f"found the byte {error.object[error.start]:#04x}, expected UTF-8 text."
        raise DataError(located(path, problem, row=row, do="Save the file as UTF-8.")) from None


def _separated(path: Path, required: Sequence[str], known: Sequence[str]) -> Rows:
    separator = _SEPARATORS[path.suffix.lower()]
    reader = csv.reader(io.StringIO(_text(path), newline=""), delimiter=separator, strict=True)
    header: list[str] | None = None
    row = 1
    try:
        for cells in reader:
            if header is None:
                header = _header(path, row, cells, required, known)
            elif cells:
                yield row, _named(path, row, cells, header)
            row = reader.line_num + 1
    except csv.Error as error:
        problem = f"found no table separated by {separator!r} ({error})."
        raise DataError(located(path, problem, row=row, do="Check the quotation marks there.")) from None
    if header is None:
        raise DataError(located(path, f"the file is empty, expected the columns: {', '.join(known)}."))


def _header(path: Path, row: int, cells: list[str], required: Sequence[str], known: Sequence[str]) -> list[str]:
    names = [cell.strip() for cell in cells]
    expected = f"expected a header with the columns: {', '.join(known)}."
    for name in names:
        if name not in known:
            raise DataError(located(path, f"found an unknown column {name!r}, {expected}", row=row, field=name))
        if names.count(name) > 1:
            raise DataError(located(path, f"found the column {name!r} twice.", row=row, field=name))
    for name in required:
        if name not in names:
            raise DataError(located(path, f"found no column {name!r}, {expected}", row=row, field=name))
    return names


def _named(path: Path, row: int, cells: list[str], header: list[str]) -> dict[str, Any]:
    if len(cells) > len(header):
        problem = f"found {len(cells)} values, expected {len(header)}: {', '.join(header)}."
        raise DataError(located(path, problem, row=row, do="Quote values that contain the separator."))
    return dict(zip(header, cells, strict=False))


def _jsonl(path: Path, known: Sequence[str]) -> Rows:
    for row, line in enumerate(lines(path), 1):
        if not line.strip():
            continue
        try:
            values = json.loads(line)
        except (json.JSONDecodeError, RecursionError) as error:
            raise DataError(located(path, f"not valid JSON ({error}).", row=row)) from None
        if not isinstance(values, dict):
            raise DataError(located(path, f"found {type(values).__name__}, expected an object.", row=row))
        unknown = next((name for name in values if name not in known), None)
        if unknown is not None:
            problem = f"found an unknown field {unknown!r}, expected: {', '.join(known)}."
            raise DataError(located(path, problem, row=row, field=unknown))
        yield row, values


def _checked(
    path: Path, row: int, values: dict[str, Any], required: Sequence[str], known: Sequence[str]
) -> dict[str, str]:
    checked = {}
    for name in known:
        value = values.get(name)
        if value is None:
            value = ""
        if not isinstance(value, str):
            raise DataError(located(path, f"found {value!r}, expected text.", row=row, field=name))
        if _SURROGATE.search(value):
            raise DataError(located(path, f"found {value!r}, expected valid Unicode.", row=row, field=name))
        checked[name] = value.strip()
        if name in required and not checked[name]:
            raise DataError(located(path, "found nothing, expected text.", row=row, field=name))
    return checked
