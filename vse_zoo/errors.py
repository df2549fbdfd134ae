"""The package's exceptions: each message says where, what was found, what is expected and what to do."""

from __future__ import annotations

from pathlib import Path

__all__ = ["ConfigError", "DataError", "EvaluationError", "ImageError", "PresetError", "VSEZooError"]


class VSEZooError(Exception):
    """Base of every error that bad input can cause; the command line prints its message and exits with 1."""


class DataError(VSEZooError):
    """Raw data or a dataset folder that can't be used as it is."""


class ImageError(DataError):
    """One image that can't be decoded."""


class ConfigError(VSEZooError):
    """A recipe configuration with a missing, unknown or impossible value."""


class PresetError(VSEZooError):
    """A preset that is unknown, incomplete or does not fit its weights."""


class EvaluationError(VSEZooError):
    """Embeddings or scores from which no honest figure can be computed."""


def located(
    path: str | Path,
    problem: str,
    *,
    row: int | None = None,
    line: int | None = None,
    field: str | None = None,
    do: str | None = None,
) -> str:
    """One message in the house form: ``file, row, field: what was found and expected. What to do.``

    Of a table's record ``row`` counts the records, and ``line`` the lines of the file. The line is said where it is
    another number, or where there is no row.
    """
    place = str(path)
    if row is not None:
        place += f", row {row}" + (f" (line {line})" if line not in (None, row) else "")
    elif line is not None:
        place += f", line {line}"
    if field:
        place += f", field '{field}'"
    return f"{place}: {problem}" + (f" {do}" if do else "")
