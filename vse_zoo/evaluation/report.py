"""A run's report: one HTML file that needs nothing beside it, for a phone or a wide screen, by day or night."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from vse_zoo.evaluation.baselines import Comparison
from vse_zoo.evaluation.pictures import curve_svg
from vse_zoo.evaluation.retrieval import RetrievalFigures
from vse_zoo.evaluation.sections import (
    AttendedImage,
    ImageQuery,
    TextQuery,
    attention_section,
    captions_section,
    figures_section,
    pictures_section,
)
from vse_zoo.files import write_text

__all__ = ["html_page", "write_report"]

_FIGURES = (
    "In percent of the queries. A picture is answered if any of its captions is among the first K; "
    "equal scores count against the query."
)
_CAPTIONS = "Pictures drawn at random, with the captions that the model ranks first. ✓: written for it."
_PICTURES = "Captions drawn at random, with the pictures that the model ranks first. ✓ is the picture it describes."
_ATTENTION = (
    "Where each head looks in the picture (bright: most), and below it how the same head weighs the words of one of "
    "the picture's captions in each language."
)


def write_report(
    path: Path,
    *,
    title: str,
    figures: Mapping[str, RetrievalFigures],
    facts: Mapping[str, str] | None = None,
    comparisons: Sequence[Comparison] = (),
    history: Sequence[Mapping[str, float | str]] = (),
    image_queries: Sequence[ImageQuery] = (),
    text_queries: Sequence[TextQuery] = (),
    attention: Sequence[AttendedImage] = (),
) -> None:
    """Writes the report; parts without content are left out.

    Args:
        path: the HTML file.
        title: its heading.
        figures: of each language.
        facts: what a reader should know about the run (data, split, training time, …), in order.
        comparisons: rows below the model's in each table (chance, untrained, ceiling, …).
        history: an epoch each, with ``epoch``, ``loss`` and ``val_rsum`` (the rows of a run's log.csv).
        image_queries: pictures with the captions found for them.
        text_queries: sentences with the pictures found for them.
        attention: pictures with every head's weights.
    """
    parts = [("Retrieval", _FIGURES, figures_section(figures, comparisons))]
    if history:
        parts.append(("Training", "", _curves(history)))
    if image_queries:
        parts.append(("Captions found for a picture", _CAPTIONS, captions_section(image_queries)))
    if text_queries:
        parts.append(("Pictures found for a sentence", _PICTURES, pictures_section(text_queries)))
    if attention:
        parts.append(("Attention", _ATTENTION, attention_section(attention)))
    write_text(path, html_page(title, facts or {}, parts))


def _curves(history: Sequence[Mapping[str, float | str]]) -> str:
    """Loss and dev rsum, where the history has them."""
    drawn = []
    for column, label, mark in (("loss", "training loss", None), ("val_rsum", "dev rsum", "max")):
        rows = [row for row in history if row.get(column) not in (None, "")]
        if rows:
            epochs, values = ([float(row[name]) for row in rows] for name in ("epoch", column))
            drawn.append(curve_svg(epochs, values, label, mark))
    return f'<div class="curves">{"".join(drawn)}</div>'


def html_page(title: str, facts: Mapping[str, str], parts: Sequence[tuple[str, str, str]]) -> str:
    """A page with everything in it: a title, facts by name, and parts of (heading, note, content as HTML)."""
    style = Path(__file__).with_name("report.css").read_text(encoding="utf-8")
    listed = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in facts.items())
    body = "".join(
        f"<section><h2>{escape(heading)}</h2>{f'<p class=dim>{escape(note)}</p>' if note else ''}{content}</section>"
        for heading, note, content in parts
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{style}</style></head>\n"
        f"<body><header><h1>{escape(title)}</h1>{f'<dl>{listed}</dl>' if listed else ''}</header>{body}</body></html>\n"
    )
