"""Where a model looks in drawn pictures and in their captions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vse_zoo.data.dataset import Dataset
from vse_zoo.evaluation.explanation.content import Explanation
from vse_zoo.evaluation.report.content import AttendedImage
from vse_zoo.evaluation.report.opening import Pictures
from vse_zoo.preprocessing.text import UNKNOWN

__all__ = ["attended", "explained"]


def attended(
    model: Any, dataset: Dataset, pictures: Pictures, rows: Iterable[int], languages: Sequence[str]
) -> list[AttendedImage]:
    """Weights of every head for each picture and its first caption in each language."""
    shown = []
    for row in rows:
        picture, boxes = pictures.open(row), dataset.boxes(row)
        if boxes is None or picture.image is None:
            continue
        weights = model.attend_image(*dataset.regions(np.array([row])))[0]
        sentences = []
        for language, text in _first_captions(dataset, row, languages):
            words, word_weights = model.attend_text([text], language)
            sentences.append((language, words[0], word_weights[0]))
        shown.append(AttendedImage(picture, weights[:, : len(boxes)], boxes, sentences, dataset.grid))
    return shown


def explained(
    model: Any, dataset: Dataset, pictures: Pictures, rows: Iterable[int], languages: Sequence[str]
) -> list[Explanation]:
    """The plan between the regions of each picture and the words of its first caption in each language."""
    shown = []
    for row in rows:
        picture, boxes = pictures.open(row), dataset.boxes(row)
        if boxes is None or picture.image is None:
            continue
        regions = _regions(dataset, row)
        for language, text in _first_captions(dataset, row, languages):
            alignment = model.explain(regions, text, language)
            known = model.preprocessor.ragged([text], language)[0].numpy() != UNKNOWN
            names = {"name": picture.name, "model": type(model).__name__}
            shown.append(
                Explanation(picture.image, boxes, dataset.grid, text, language, alignment, known.tolist(), **names)
            )
    return shown


def _regions(dataset: Dataset, row: int) -> NDArray[np.float32]:
    features, mask = dataset.regions(np.array([row]))
    return features[0][mask[0]].astype(np.float32)


def _first_captions(dataset: Dataset, row: int, languages: Sequence[str]) -> list[tuple[str, str]]:
    captions = dataset.records[row].captions
    return [(language, captions[language][0]) for language in languages if captions.get(language)]
