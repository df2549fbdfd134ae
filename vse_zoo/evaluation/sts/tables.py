"""STS figures for the terminal and for JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from statistics import fmean
from typing import Any

from rich.table import Table

from vse_zoo.evaluation.sts.evaluate import STSFigures

__all__ = ["mean_of", "sts_as_dict", "sts_table"]


def mean_of(figures: Mapping[str, STSFigures]) -> STSFigures:
    """The means of r and ρ over files, each counting alike, and the sums of the pairs."""
    every = list(figures.values())
    pearson, spearman = fmean(each.pearson for each in every), fmean(each.spearman for each in every)
    return STSFigures(sum(each.pairs for each in every), sum(each.skipped for each in every), pearson, spearman)


def sts_table(figures: Mapping[str, STSFigures], title: str = "Semantic textual similarity") -> Table:
    """A rich table with a row for each file, and one for the mean where there are several."""
    table = Table(title=title)
    table.add_column("file")
    for column in ("pairs", "without\na score", "Pearson r", "Spearman ρ"):
        table.add_column(column, justify="right")
    for name, each in figures.items():
        table.add_row(name, *_cells(each), end_section=name == list(figures)[-1])
    if len(figures) > 1:
        table.add_row("mean", *_cells(mean_of(figures)))
    return table


def sts_as_dict(figures: Mapping[str, STSFigures], language: str) -> dict[str, Any]:
    """Plain numbers: ``{language, files: {name: {pairs, skipped, pearson, spearman}}, mean: {pearson, spearman}}``."""
    mean = mean_of(figures)
    files = {name: asdict(each) for name, each in figures.items()}
    return {"language": language, "files": files, "mean": {"pearson": mean.pearson, "spearman": mean.spearman}}


def _cells(figures: STSFigures) -> tuple[str, str, str, str]:
    return f"{figures.pairs:,}", f"{figures.skipped:,}", f"{figures.pearson:.3f}", f"{figures.spearman:.3f}"
