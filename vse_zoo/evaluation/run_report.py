"""From a model and a dataset to a report: draws the pictures and sentences to show, and asks the model about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vse_zoo.data.dataset import Dataset
from vse_zoo.evaluation.baselines import Comparison, chance
from vse_zoo.evaluation.evaluate import embed_captions, embed_images
from vse_zoo.evaluation.report import write_report
from vse_zoo.evaluation.retrieval import RetrievalFigures
from vse_zoo.evaluation.sections import AttendedImage, CaptionHit, ImageQuery, PictureHit, TextQuery

__all__ = ["report_run"]

_SHOWN = 5
"""Answers shown for each query."""


def report_run(
    model: Any,
    dataset: Dataset,
    split: str,
    figures: Mapping[str, RetrievalFigures],
    out: Path,
    *,
    title: str,
    history: Sequence[Mapping[str, float | str]] = (),
    comparisons: Sequence[Comparison] = (),
    facts: Mapping[str, str] | None = None,
    queries: int = 6,
    seed: int = 0,
) -> None:
    """Writes the report of a model on a split: figures, curves, a gallery and attention, where the model has any.

    Args:
        model: a `VSEModel`; with ``attend_image`` and ``attend_text`` its attention is shown.
        dataset: with regions; its pictures, where it has any, are opened for the gallery.
        split: the one that ``figures`` are of.
        figures: of `evaluate`.
        out: the HTML file.
        title: its heading.
        history: rows of the run's log.csv.
        comparisons: rows for the tables; chance is added as the last one.
        facts: shown at the top.
        queries: pictures, and sentences of each language, in the gallery; half as many pictures with attention.
        seed: of the draw, so that nobody picks the good ones.
    """
    captions = {language: dataset.captions(split, language) for language in figures}
    by_chance = Comparison("chance", {language: chance(owners) for language, (_, owners) in captions.items()})
    random = np.random.default_rng(seed)
    examples: dict[str, Any] = {}
    if dataset.has_pictures:
        drawn = random.permutation(_images_in_all_languages([owners for _, owners in captions.values()]))[:queries]
        asked, sentences = _ask(model, dataset, captions, drawn, random)
        attention = _attention(model, dataset, drawn[: max(1, queries // 2)], tuple(figures))
        examples = {"image_queries": asked, "text_queries": sentences, "attention": attention}
    else:
        facts = {**(facts or {}), "Pictures": "none, the dataset holds features only: no examples are shown"}
    write_report(
        out,
        title=title,
        figures=figures,
        facts=facts,
        comparisons=[*comparisons, by_chance],
        history=history,
        **examples,
    )


def _ask(
    model: Any,
    dataset: Dataset,
    captions: Mapping[str, tuple[list[str], NDArray[np.int64]]],
    drawn: NDArray[np.int64],
    random: np.random.Generator,
) -> tuple[list[ImageQuery], list[TextQuery]]:
    """The captions found for the drawn images, and the pictures found for half as many random sentences a language."""
    found: dict[int, dict[str, list[CaptionHit]]] = {int(row): {} for row in drawn}
    sentences = []
    for language, (texts, owners) in captions.items():
        rows = np.unique(owners)
        images, embedded = embed_images(model, dataset, rows), embed_captions(model, texts, language)
        for row in np.intersect1d(drawn, rows).tolist():
            at = int(np.searchsorted(rows, row))
            scores = model.similarity(images[at : at + 1], embedded)[0]
            found[row][language] = [CaptionHit(texts[t], float(scores[t]), owners[t] == row) for t in _best(scores)]
        for t in random.permutation(len(texts))[: max(1, len(drawn) // 2)]:
            scores = model.similarity(images, embedded[t : t + 1])[:, 0]
            sentences.append(_text_query(dataset, texts[t], language, rows, scores, int(owners[t])))
    return [ImageQuery(dataset.open_image(row), answers) for row, answers in found.items()], sentences


def _images_in_all_languages(owners: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Rows with captions in every language; those of any language if there are none."""
    common = set(owners[0].tolist()).intersection(*(each.tolist() for each in owners[1:]))
    return np.array(sorted(common)) if common else np.unique(np.concatenate(owners))


def _best(scores: NDArray[np.floating]) -> NDArray[np.int64]:
    return np.argsort(-scores, kind="stable")[:_SHOWN]


def _text_query(
    dataset: Dataset, text: str, language: str, rows: NDArray[np.int64], scores: NDArray[np.floating], own: int
) -> TextQuery:
    rank = int(np.count_nonzero(scores >= scores[np.searchsorted(rows, own)]))  # itself included: 1-based
    hits = [PictureHit(dataset.open_image(int(rows[i])), float(scores[i]), rows[i] == own) for i in _best(scores)]
    return TextQuery(text, language, rank, hits)


def _attention(model: Any, dataset: Dataset, rows: NDArray[np.int64], languages: Sequence[str]) -> list[AttendedImage]:
    """Weights of every head for each picture and its first caption in each language."""
    if not (hasattr(model, "attend_image") and hasattr(model, "attend_text")):
        return []
    shown = []
    for row in map(int, rows):
        boxes = dataset.boxes(row)
        if boxes is None:
            continue
        weights = model.attend_image(*dataset.regions(np.array([row])))[0]
        sentences = []
        for language in languages:
            texts = dataset.records[row].captions.get(language, [])[:1]
            if texts:
                words, word_weights = model.attend_text(texts, language)
                sentences.append((language, words[0], word_weights[0]))
        shown.append(AttendedImage(dataset.open_image(row), weights[:, : len(boxes)], boxes, sentences))
    return shown
