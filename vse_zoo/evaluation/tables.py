"""Figures as tables: Markdown for papers and READMEs, rich for the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.table import Table

from vse_zoo.evaluation.correlation import CorrelationFigures
from vse_zoo.evaluation.retrieval import Direction, RetrievalFigures

__all__ = ["LANGUAGE_NAMES", "correlation_table", "figures_table", "markdown_table", "recalls"]

LANGUAGE_NAMES = {"en": "English", "de": "German", "fr": "French", "cs": "Czech"}


def recalls(direction: Direction) -> str:
    """``24.8/49.3/60.5``: R@1/5/10 in percent."""
    return "/".join(f"{value:.1f}" for value in direction.recalls)


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; the first column is text, the others are right-aligned numbers."""
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in lines)


def figures_table(figures: Mapping[str, RetrievalFigures], title: str = "Retrieval, in percent") -> Table:
    """A rich table with one row for each language."""
    table = Table(title=title)
    table.add_column("language")
    for column in ("images", "image to text\nR@1/5/10", "text to image\nR@1/5/10", "median\nranks", "rsum"):
        table.add_column(column, justify="right")
    for language, each in figures.items():
        table.add_row(
            LANGUAGE_NAMES.get(language, language),
            f"{each.images:,}",
            recalls(each.i2t),
            recalls(each.t2i),
            f"{each.i2t.median_rank:g}, {each.t2i.median_rank:g}",
            f"{each.rsum:.1f}",
        )
    return table


def correlation_table(figures: CorrelationFigures, title: str = "Correlations of two views") -> Table:
    """A rich table of one row."""
    table = Table(title=title)
    for column in ("neuron\nsum", "canonical\nsum", "effective\nrank", "directions for\n90% of variance", "variance"):
        table.add_column(column, justify="right")
    table.add_row(*(f"{value:.2f}" for value in figures.as_dict().values()))
    return table
