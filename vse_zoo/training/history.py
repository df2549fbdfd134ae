"""log.csv of a run: a row an epoch."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from vse_zoo.files import write_text

__all__ = ["read_history", "write_history"]

_NAME = "log.csv"


def read_history(run: Path) -> list[dict[str, str]]:
    """The rows of a run's log.csv; none if it has not finished an epoch."""
    path = run / _NAME
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write_history(run: Path, rows: Sequence[dict[str, str]]) -> None:
    """Replaces a run's log.csv; no rows remove it."""
    if not rows:
        (run / _NAME).unlink(missing_ok=True)
        return
    text = io.StringIO(newline="")
    # Lines end as in Keras' CSVLogger, which adds to the file.
    writer = csv.DictWriter(text, rows[0].keys())
    writer.writeheader()
    writer.writerows(rows)
    write_text(run / _NAME, text.getvalue())
