"""Figures of sentences that search sentences, for the terminal and for JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.table import Table

from vse_zoo.evaluation.sentence_retrieval import SentenceFigures
from vse_zoo.evaluation.tables import LANGUAGE_NAMES, recalls

__all__ = ["sentences_as_dict", "sentences_table"]

Figures = Mapping[tuple[str, str], SentenceFigures]


def sentences_table(figures: Figures, title: str = "Sentences of two languages, in percent") -> Table:
    """A rich table with a row for each direction."""
    table = Table(title=title)
    table.add_column("query → found")
    for column in ("images", "queries", "R@1/5/10", "median\nrank", "rsum"):
        table.add_column(column, justify="right")
    for (first, second), each in figures.items():
        sides = ((first, second, each.forward, f"{each.rsum:.1f}"), (second, first, each.backward, ""))
        for query, found, direction, rsum in sides:
            name = " → ".join(LANGUAGE_NAMES.get(language, language) for language in (query, found))
            counts = f"{each.images:,}", f"{direction.queries:,}"
            table.add_row(name, *counts, recalls(direction), f"{direction.median_rank:g}", rsum)
    return table


def sentences_as_dict(figures: Figures, split: str) -> dict[str, Any]:
    """Plain numbers: ``{split, between: [{first, second, images, forward: {r1, …}, backward, rsum}]}``.

    Forward, sentences of the first language search those of the second.
    """
    listed = [{"first": first, "second": second, **each.as_dict()} for (first, second), each in figures.items()]
    return {"split": split, "between": listed}
