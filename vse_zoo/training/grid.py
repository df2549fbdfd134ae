"""A grid of runs: rows that change one thing each, several seeds, one table of means and spreads."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import keras
import numpy as np
from numpy.typing import NDArray

from vse_zoo.evaluation.tables import markdown_table
from vse_zoo.files import read_json, write_json, write_text

__all__ = ["Cell", "run_grid"]

Cell = Callable[[str, int, Path], Mapping[str, float | None]]
"""Trains the run of a row and a seed in a folder; gives its figures by their names, None where it has none."""


def run_grid(
    rows: Sequence[str], seeds: int, out: Path, cell: Cell, columns: Mapping[str, str], kept: str = "figures.json"
) -> str:
    """Trains every row with every seed, all rows of a seed first; what is finished is kept and not done again.

    Args:
        rows: their names.
        seeds: runs of each row, numbered from 0.
        out: a folder; OUT/<row>-<seed> is a run's, OUT/table.md the table, written anew after each seed.
        cell: makes one run.
        columns: names of the figures in the table, and their headings.
        kept: the file in a run's folder that holds its figures.

    Returns:
        The table in Markdown: mean ± sample standard deviation over the seeds.
    """
    found: dict[str, list[list[float]]] = {row: [] for row in rows}
    table = ""
    for seed in range(seeds):
        for row in rows:
            place = out / f"{_file_name(row)}-{seed}"
            if not (place / kept).exists():
                print(f"{row}, seed {seed}", flush=True)
                keras.backend.clear_session()
                write_json(place / kept, dict(cell(row, seed, place)))
            values: dict[str, Any] = read_json(place / kept)
            found[row].append([np.nan if values[name] is None else values[name] for name in columns])
        table = markdown_table(
            ["", *columns.values()], [[row, *_spread(np.array(each))] for row, each in found.items()]
        )
        write_text(out / "table.md", table + "\n")
    return table


def _file_name(row: str) -> str:
    return re.sub(r"[^\w.,=+-]+", "_", row.replace("/", "_over_"))


def _spread(values: NDArray[np.float64]) -> list[str]:
    """(seeds, columns) to a text a column; "–" where there is no figure."""
    means = values.mean(0)
    deviations = values.std(0, ddof=1) if len(values) > 1 else np.full(len(means), np.nan)
    return [_text(mean, deviation) for mean, deviation in zip(means, deviations, strict=True)]


def _text(mean: float, deviation: float) -> str:
    if np.isnan(mean):
        return "–"
    return f"{mean:.2f}" if np.isnan(deviation) else f"{mean:.2f} ± {deviation:.2f}"
