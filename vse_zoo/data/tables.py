"""Rows of CSV, TSV and JSONL files, each with its line number, for the sources that read tables."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from vse_zoo.errors import DataError, located

__all__ = ["lines", "table_rows"]

_SEPARATORS = {".csv": ",", ".txt": ",", ".tsv": "\t"}


def lines(path: Path) -> list[str]:
    """The lines of a UTF-8 text file without their ends; a byte order mark is skipped."""
    if not path.is_file():
        raise DataError(located(path, "no such file."))
    try:
        return path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise DataError(located(path, f"not UTF-8 text ({error}).", do="Save it as UTF-8.")) from None


def table_rows(path: Path, required: Sequence[str], optional: Sequence[str] = ()) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of a table with their line numbers.

    Args:
        path: .csv or .txt (comma), .tsv (tab) with a header line, or .jsonl with one object a line.
        required: columns that every row must fill.
        optional: columns that may be absent or empty; any other column is an error, since it may be a misspelt one.

    Raises:
        DataError: names the file, the row and the column.
    """
    if not path.is_file():
        raise DataError(located(path, "no such file."))
    if path.suffix.lower() not in (*_SEPARATORS, ".jsonl"):
        raise DataError(located(path, f"found the ending {path.suffix!r}, expected .csv, .tsv, .txt or .jsonl."))
    parsed = _jsonl(path) if path.suffix.lower() == ".jsonl" else _separated(path)
    for row, values in parsed:
        yield row, _checked(path, row, values, required, optional)


def _separated(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    separator = _SEPARATORS[path.suffix.lower()]
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, delimiter=separator, strict=True)
            for values in reader:
                yield reader.line_num, values
    except UnicodeDecodeError as error:
        raise DataError(located(path, f"not UTF-8 text ({error}).", do="Save it as UTF-8.")) from None
    except csv.Error as error:
        problem = f"not a table separated by {separator!r} ({error})."
        raise DataError(located(path, problem, row=reader.line_num, do="Check the quotation marks there.")) from None


def _jsonl(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    for row, line in enumerate(lines(path), 1):
        if not line.strip():
            continue
        try:
            values = json.loads(line)
        except json.JSONDecodeError as error:
            raise DataError(located(path, f"not valid JSON ({error}).", row=row)) from None
        if not isinstance(values, dict):
            raise DataError(located(path, f"found {type(values).__name__}, expected an object.", row=row))
        yield row, values


def _checked(
    path: Path, row: int, values: dict[str, Any], required: Sequence[str], optional: Sequence[str]
) -> dict[str, str]:
    known = (*required, *optional)
    unknown = [name for name in values if name not in known]
    if unknown:
        found = "more values than columns" if None in unknown else f"unknown column {unknown[0]!r}"
        problem = f"found {found}, expected the columns: {', '.join(known)}."
        raise DataError(located(path, problem, row=row, do="Quote values that contain the separator."))
    for name in known:
        value = values.get(name)
        if value is not None and not isinstance(value, str):
            raise DataError(located(path, f"found {value!r}, expected text.", row=row, field=name))
        if name in required and not (value or "").strip():
            raise DataError(located(path, "found nothing, expected text.", row=row, field=name))
    return {name: (values.get(name) or "").strip() for name in known}
