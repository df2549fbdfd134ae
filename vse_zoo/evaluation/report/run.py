"""From a model and a dataset to a report: draws the pictures and sentences to show, and asks the model about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from vse_zoo.data.dataset import Dataset
from vse_zoo.evaluation.baselines import Comparison, chance
from vse_zoo.evaluation.report.asking import EmbeddedSplit, ask_about_pictures, ask_about_sentences, embed_split
from vse_zoo.evaluation.report.figures import History
from vse_zoo.evaluation.report.looking import attended, explained
from vse_zoo.evaluation.report.mapping import LEAST_MAPPED, map_space
from vse_zoo.evaluation.report.opening import Pictures
from vse_zoo.evaluation.report.writing import write_report
from vse_zoo.evaluation.retrieval import RetrievalFigures
from vse_zoo.progress import progress

__all__ = ["report_run"]

_MAPPED = 150
"""Pictures in the map."""


def report_run(
    model: Any,
    dataset: Dataset,
    split: str,
    figures: Mapping[str, RetrievalFigures],
    out: Path,
    *,
    title: str,
    history: History = (),
    comparisons: Sequence[Comparison] = (),
    facts: Mapping[str, str] | None = None,
    queries: int = 9,
    seed: int = 0,
) -> None:
    """Writes the report of a model on a split; what can't be shown is left out, and the page says so.

    Figures and training curves; a gallery; the attention of every head, of a model with ``attend_image`` and
    ``attend_text``, or the words in the picture, of one with ``explain``; and a map of pictures and captions, of a
    model whose embeddings are vectors.

    Args:
        model: a `VSEModel`.
        dataset: with regions; its pictures, where it has any, are opened.
        split: the one that ``figures`` are of.
        figures: of `evaluate`.
        out: the HTML file.
        title: its heading.
        history: rows of the run's log.csv.
        comparisons: rows for the tables; chance is added as the last one.
        facts: shown at the top.
        queries: pictures, and half as many sentences of each language, in the gallery; half as many pictures with
            attention.
        seed: of the draw, so that nobody picks the good ones.
    """
    pictures, notes = Pictures(dataset), dict(facts or {})
    with progress("report", total=len(figures) + 4) as bar:
        embedded = embed_split(model, dataset, split, tuple(figures), bar)
        by_chance = {language: chance(captions.owners) for language, captions in embedded.captions.items()}
        shown = _examples(model, dataset, embedded, pictures, queries, seed, notes)
        bar.advance()
        space = _space(model, embedded, pictures, seed, notes)
        bar.advance()
        if pictures.note:
            notes["Pictures"] = pictures.note
        rows = [*comparisons, Comparison("chance", by_chance)]
        write_report(
            out, title=title, figures=figures, facts=notes, comparisons=rows, history=history, space=space, **shown
        )
        bar.advance()


def _examples(
    model: Any,
    dataset: Dataset,
    split: EmbeddedSplit,
    pictures: Pictures,
    queries: int,
    seed: int,
    notes: dict[str, str],
) -> dict[str, Any]:
    """The gallery and attention, where there are pictures."""
    if not dataset.has_pictures:
        return {}
    random = np.random.default_rng(seed)
    drawn = random.permutation(split.in_all_languages)[:queries]
    sentences, looked_at = max(1, len(drawn) // 2), drawn[: max(1, queries // 2)].tolist()
    shown: dict[str, Any] = {
        "image_queries": ask_about_pictures(model, split, pictures, drawn),
        "text_queries": ask_about_sentences(model, split, pictures, sentences, random),
    }
    looked = dataset, pictures, looked_at, tuple(split.captions)
    if hasattr(model, "attend_image") and hasattr(model, "attend_text"):
        part, shown["attention"] = "attention", attended(model, *looked)
    elif hasattr(model, "explain"):
        part, shown["explanations"] = "explanations", explained(model, *looked)
    else:
        notes["Attention"] = f"none: {type(model).__name__} weighs neither regions nor words"
        return shown
    if not shown[part]:
        notes["Attention"] = "not shown: the regions have no boxes, or their pictures can't be opened"
    return shown


def _space(model: Any, split: EmbeddedSplit, pictures: Pictures, seed: int, notes: dict[str, str]) -> Any:
    """The map, or None and a note why."""
    if not isinstance(split.images, np.ndarray):
        notes["Map"] = f"none: {type(model).__name__} compares parts, and has no one vector of a picture or a sentence"
        return None
    random = np.random.default_rng([seed, 1])  # what is mapped doesn't depend on how many queries are asked
    rows = random.permutation(split.in_all_languages)[:_MAPPED]
    if len(rows) < LEAST_MAPPED or any(not np.isin(rows, each.owners).all() for each in split.captions.values()):
        notes["Map"] = f"none: it takes {LEAST_MAPPED} pictures with captions in every language"
        return None
    return map_space(split, pictures, rows, random, seed)
