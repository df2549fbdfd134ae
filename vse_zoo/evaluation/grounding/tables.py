"""Grounding figures for the terminal and for JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.table import Table

from vse_zoo.evaluation.grounding.figures import GroundingFigures
from vse_zoo.evaluation.tables import LANGUAGE_NAMES

__all__ = ["grounding_as_dict", "grounding_table"]

_BOUNDS = {"upper bound": ("upper_bound", "pointing_upper_bound"), "chance": ("chance", "pointing_chance")}


def grounding_table(figures: Mapping[str, Mapping[str, GroundingFigures]], title: str = "Grounding") -> Table:
    """A rich table: for each language a row of each way to rank regions, then of any region and of one by chance."""
    ways = [each for by_way in figures.values() for each in list(by_way.values())[:1]]
    lost, empty = sum(each.without_words for each in ways), sum(each.without_boxes for each in ways)
    notes = f"{lost:,} phrases without a word that the model reads are misses; {empty:,} without a box are left out."
    table = Table(title=title, caption=notes)
    for column in ("language", "regions by"):
        table.add_column(column, no_wrap=True)
    for column in ("IoU ≥ 0.5\nR@1/5/10", "pointing\ngame", "map box\nIoU ≥ 0.5", "phrases"):
        table.add_column(column, justify="right", no_wrap=True)
    for language, by_way in figures.items():
        name = LANGUAGE_NAMES.get(language, language)
        for way, each in by_way.items():
            recalls, map_box = f"{each.r1:.1f}/{each.r5:.1f}/{each.r10:.1f}", "–"
            if each.map_box is not None:
                map_box = f"{each.map_box:.1f}"
            table.add_row(name, way, recalls, f"{each.pointing:.1f}", map_box, f"{each.phrases:,}")
        values = next(iter(by_way.values())).as_dict()
        for way, (right, pointing) in _BOUNDS.items():
            table.add_row(name, way, f"{values[right]:.1f}", f"{values[pointing]:.1f}", end_section=way == "chance")
    return table


def grounding_as_dict(figures: Mapping[str, Mapping[str, GroundingFigures]], split: str, boxes: str) -> dict[str, Any]:
    """Plain numbers for JSON: ``{split, boxes, languages: {en: {transport: {r1, …}, cosine: {r1, …}}}}``."""
    languages = {language: {way: each.as_dict() for way, each in ways.items()} for language, ways in figures.items()}
    return {"split": split, "boxes": boxes, "languages": languages}
