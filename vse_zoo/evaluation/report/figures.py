"""Figures and curves of a run as HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from vse_zoo.evaluation.baselines import Comparison, Recalls, recalls_of
from vse_zoo.evaluation.page import language_name
from vse_zoo.evaluation.pictures import curve_svg
from vse_zoo.evaluation.retrieval import RetrievalFigures

__all__ = ["curves_section", "figures_section"]

History = Sequence[Mapping[str, float | str]]


def figures_section(figures: Mapping[str, RetrievalFigures], comparisons: Sequence[Comparison]) -> str:
    """A table for each language: the model, then the rows to read it against."""
    return "".join(_table(language, each, comparisons) for language, each in figures.items())


def _table(language: str, figures: RetrievalFigures, comparisons: Sequence[Comparison]) -> str:
    others = [(each.name, each.recalls[language]) for each in comparisons if language in each.recalls]
    rows = _row("this model", recalls_of(figures), "main") + "".join(_row(*other) for other in others)
    title = f"{language_name(language)}: {figures.images:,} images, {figures.texts:,} captions"
    recall_names = "".join(f'<th scope="col">R@{k}</th>' for k in (1, 5, 10))
    return (
        f'<div class="scroll"><table><caption>{title}</caption><thead><tr><td></td>'
        '<th class="group" scope="colgroup" colspan="3">image → text</th>'
        '<th class="group" scope="colgroup" colspan="3">text → image</th></tr>'
        f"<tr><td></td>{recall_names}{recall_names}</tr></thead><tbody>{rows}</tbody></table></div>"
        f'<p class="dim">Median rank: image → text {figures.i2t.median_rank:g}, text → image '
        f"{figures.t2i.median_rank:g}; rsum {figures.rsum:.1f} of 600.</p>"
    )


def _row(name: str, recalls: tuple[Recalls, Recalls], kind: str = "") -> str:
    cells = "".join(
        f'<td class="{"first" if number == 0 else ""}">{"–" if value is None else f"{value:.1f}"}</td>'
        for way in recalls
        for number, value in enumerate(way)
    )
    return f'<tr class="{kind}"><th scope="row">{escape(name)}</th>{cells}</tr>'


def curves_section(history: History) -> str:
    """Loss and dev rsum over the epochs, where the history has them."""
    drawn = []
    for column, label, mark in (("loss", "training loss", None), ("val_rsum", "dev rsum", "max")):
        rows = [row for row in history if row.get(column) not in (None, "")]
        if rows:
            epochs, values = ([float(row[name]) for row in rows] for name in ("epoch", column))
            drawn.append(curve_svg(epochs, values, label, mark))
    return f'<div class="curves">{"".join(drawn)}</div>' if drawn else ""
