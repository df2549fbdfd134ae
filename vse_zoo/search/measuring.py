"""From a preset and a split that it wasn't trained on to what its scores mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vse_zoo.data import Dataset
from vse_zoo.errors import EvaluationError, located
from vse_zoo.evaluation.evaluate import Encoded, embed_captions, embed_images
from vse_zoo.ranking import top_k
from vse_zoo.search.calibration import LENGTHS, Calibration, Curve, fit_curve, length_of
from vse_zoo.search.judging import Judged, judged_queries
from vse_zoo.sets import ItemSets

__all__ = ["Measured", "calibrate", "calibration_error", "measure"]

_DEPTH = 10
_CHUNK = 1024
_BINS = 10


@dataclass(frozen=True, eq=False)
class Measured:
    """The best results of Q queries.

    Args:
        scores: (Q, K), best first, as `Encoder.levels` has them.
        right: (Q, K) bool.
        long: (Q,) bool, whether the query is long.
        owners: (Q,) places of the photos that they were written for.
    """

    scores: NDArray[np.float64]
    right: NDArray[np.bool_]
    long: NDArray[np.bool_]
    owners: NDArray[np.int64]

    def of(self, queries: NDArray[np.bool_]) -> Measured:
        """Those of some of the queries."""
        return Measured(self.scores[queries], self.right[queries], self.long[queries], self.owners[queries])


def calibrate(model: Any, dataset: Dataset, split: str = "dev", depth: int = _DEPTH) -> Calibration:
    """What scores mean in every language that the model and the dataset share.

    The queries and what is right for them are those of `judged_queries`. The figures hold, by language, how many
    queries there were, the share of right first results, and the calibration error on queries about photos other than
    those that a curve was fitted to.

    Args:
        model: of the zoo, one that takes sentences.
        dataset: an opened folder with the region features that the model was trained on.
        split: its name.
        depth: results of each query that count.

    Raises:
        EvaluationError: the split has no captions in the model's languages.
    """
    curves: dict[str, dict[str, Curve]] = {}
    figures: dict[str, Any] = {}
    for language in (each for each in dataset.languages if each in model.languages):
        queries = judged_queries(dataset, split, language, model.preprocessor)
        if not queries.texts:
            continue
        found = measure(model, dataset, split, language, queries, depth)
        curves[language] = _curves(found)
        half = queries.owners % 2 == 0
        pairs = [(a, ~a) for a in (half, ~half) if a.any() and not a.all()]
        errors = [calibration_error(_curves(found.of(one)), found.of(other)) for one, other in pairs]
        figures[language] = {
            "queries": len(queries.texts),
            "first_right": float(found.right[:, 0].mean()),
            "calibration_error": float(np.mean(errors)) if errors else None,
        }
    if not curves:
        raise EvaluationError(located(dataset.path, f"split '{split}' has no caption in the model's languages."))
    return Calibration(split, len(dataset.indices(split)), depth, curves, figures)


def _curves(found: Measured) -> dict[str, Curve]:
    """A curve for each length; where there are no such queries, that of all."""
    parts = {length: found.of(found.long == (length == LENGTHS[1])) for length in LENGTHS}
    used = {length: part if len(part.scores) else found for length, part in parts.items()}
    return {length: fit_curve(part.scores.ravel(), part.right.ravel()) for length, part in used.items()}


def measure(model: Any, dataset: Dataset, split: str, language: str, queries: Judged, depth: int = _DEPTH) -> Measured:
    """The best results of every query among the photos of a split."""
    images = embed_images(model, dataset, dataset.indices(split))
    texts = embed_captions(model, queries.texts, language)
    places, scores = _best(model, images, texts, min(depth, len(images)))
    words = model.preprocessor.words(queries.texts).row_lengths().numpy()
    long = np.array([length_of(count) == LENGTHS[1] for count in words])
    return Measured(scores, np.take_along_axis(queries.right, places, 1), long, queries.owners)


def calibration_error(curves: dict[str, Curve], found: Measured) -> float:
    """The mean distance of what is promised and what is, over ten equally large groups of results (Naeini, 2015)."""
    short, long = (curves[length](found.scores) for length in LENGTHS)
    promised, right = np.where(found.long[:, None], long, short).ravel(), found.right.ravel()
    groups = np.array_split(np.argsort(promised, kind="stable"), _BINS)
    distances = [abs(promised[group].mean() - right[group].mean()) * len(group) for group in groups if len(group)]
    return float(sum(distances) / len(right))


def _best(model: Any, images: Encoded, queries: Encoded, depth: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Places among the images, and scores, (queries, depth) both."""
    if isinstance(images, ItemSets) and isinstance(queries, ItemSets):
        found = top_k(model.ranker(images, queries), depth, query="column")
        words = queries.counts[:, None] if model.alignment.reduction == "sum" else 1
        return found.indices, found.scores.astype(np.float64) / words
    places = np.empty((len(queries), depth), np.int64)
    scores = np.empty((len(queries), depth))
    for start in range(0, len(queries), _CHUNK):
        chunk = np.asarray(queries[start : start + _CHUNK]) @ np.asarray(images).T
        order = np.argsort(-chunk, axis=1, kind="stable")[:, :depth]
        places[start : start + _CHUNK] = order
        scores[start : start + _CHUNK] = np.take_along_axis(chunk, order, 1)
    return places, scores
