"""Figures as tables: Markdown for papers and READMEs, rich for the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.table import Table

from vse_zoo.evaluation.retrieval import Direction, RetrievalFigures

__all__ = ["FIGURE_COLUMNS", "LANGUAGE_NAMES", "figure_cells", "figures_table", "markdown_table", "recalls"]

LANGUAGE_NAMES = {"en": "English", "de": "German", "fr": "French", "cs": "Czech"}
FIGURE_COLUMNS = ("images", "i2t R@1", "R@5", "R@10", "median", "t2i R@1", "R@5", "R@10", "median", "rsum")


def recalls(direction: Direction) -> str:
    """``24.8/49.3/60.5``: R@1/5/10 in percent."""
    return "/".join(f"{value:.1f}" for value in direction.recalls)


def figure_cells(figures: RetrievalFigures) -> list[str]:
    """One text for each of `FIGURE_COLUMNS`."""
    cells = [f"{figures.images:,}"]
    for direction in (figures.i2t, figures.t2i):
        cells += [f"{value:.1f}" for value in direction.recalls] + [f"{direction.median_rank:g}"]
    return [*cells, f"{figures.rsum:.1f}"]


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; the first column is text, the others are right-aligned numbers."""
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in lines)


def figures_table(figures: Mapping[str, RetrievalFigures], title: str = "Retrieval, in percent") -> Table:
    """A rich table with one row for each language."""
    table = Table(title=title)
    table.add_column("language")
    for column in FIGURE_COLUMNS:
        table.add_column(column, justify="right")
    for language, each in figures.items():
        table.add_row(LANGUAGE_NAMES.get(language, language), *figure_cells(each))
    return table
