"""Retrieval figures in both directions, as image-text papers report them, with nothing in the query's favour.

R@K of an image query is a hit if *any* of its captions is among the top K (Success@K), so only its best caption's rank
counts; a caption query has one image. An irrelevant item whose score equals the true one's ranks *before* it: a
collapsed model scores 0, not 100. NaN and infinity are errors. Only a chunk of the score matrix exists at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vse_zoo.errors import EvaluationError
from vse_zoo.evaluation.ranks import Relevance, ranks
from vse_zoo.evaluation.scoring import ScoreRows, checked_embeddings, dot_products
from vse_zoo.ranking import PairScorer, true_ranks

__all__ = [
    "Direction",
    "PairScores",
    "Ranker",
    "RetrievalFigures",
    "evaluate_pairs",
    "evaluate_retrieval",
    "evaluate_scores",
]

PairScores = Callable[[NDArray[np.int64], NDArray[np.int64]], ArrayLike]
"""Scores of image rows (n,) against caption rows (m,): an array (n, m), higher is better."""

Ranker = Callable[[NDArray[np.int64], NDArray[np.int64]], PairScorer]
"""Image rows (n,) and caption rows (m,) to what scores their pairs."""

_Ranks = tuple[NDArray[np.int64], NDArray[np.int64]]
"""1-based ranks of the image queries that have captions, and of the caption queries."""


@dataclass(frozen=True)
class Direction:
    """Figures of one direction: R@1, R@5, R@10 in percent; median and mean of the 1-based ranks; how many queries."""

    r1: float
    r5: float
    r10: float
    median_rank: float
    mean_rank: float
    queries: int

    @classmethod
    def of(cls, found: NDArray[np.int64]) -> Direction:
        """The figures of 1-based ranks (queries,)."""
        r1, r5, r10 = (100.0 * float(np.mean(found <= k)) for k in (1, 5, 10))
        return cls(r1, r5, r10, float(np.median(found)), float(np.mean(found)), len(found))

    @property
    def recalls(self) -> tuple[float, float, float]:
        """R@1, R@5 and R@10, in percent."""
        return self.r1, self.r5, self.r10


@dataclass(frozen=True)
class RetrievalFigures:
    """Both directions, image to text (captions are found) and text to image; the numbers of images and captions."""

    i2t: Direction
    t2i: Direction
    images: int
    texts: int

    @property
    def rsum(self) -> float:
        """R@1 + R@5 + R@10 of both directions: at most 600."""
        return sum(self.i2t.recalls) + sum(self.t2i.recalls)

    def as_dict(self) -> dict[str, object]:
        """Plain numbers for JSON."""
        return {**asdict(self), "rsum": self.rsum}


def evaluate_retrieval(
    image_embeddings: ArrayLike,
    text_embeddings: ArrayLike,
    text_image: ArrayLike,
    *,
    folds: int = 1,
    chunk: int | None = None,
) -> RetrievalFigures:
    """Figures of embeddings compared by their dot product (of unit vectors: the cosine).

    Args:
        image_embeddings: (N, E) finite numbers.
        text_embeddings: (M, E), one row per caption, in any order; images may have different numbers of captions. An
            image without a caption is no query, but the captions must still not find it.
        text_image: (M,) row in ``image_embeddings`` of each caption's image.
        folds: above 1, the images are cut into that many contiguous parts, each is evaluated alone and the figures are
            averaged (``folds=5`` on the 5,000 COCO images: the "1K" figures).
        chunk: queries scored at a time; by default as many as keep the scores within about 32 MiB.

    Raises:
        EvaluationError: NaN or infinite values (the row is named), shapes that don't fit, an index without an image, a
            fold without a caption.
    """
    images = checked_embeddings(image_embeddings, "image_embeddings")
    texts = checked_embeddings(text_embeddings, "text_embeddings")
    if images.shape[1] != texts.shape[1]:
        raise EvaluationError(
            f"image_embeddings have {images.shape[1]} dimensions and text_embeddings {texts.shape[1]}: "
            "both must come from the same space."
        )
    owners = _checked_owners(text_image, len(images), len(texts))

    def fold(image_rows: NDArray[np.int64], text_rows: NDArray[np.int64], own: NDArray[np.int64]) -> _Ranks:
        some_images, some_texts = images[image_rows], texts[text_rows]
        both = dot_products(some_images, some_texts), dot_products(some_texts, some_images)
        return _counted(*both, own, len(image_rows), chunk)

    return _evaluate(fold, owners, len(images), folds)


def evaluate_scores(
    scores: PairScores, text_image: ArrayLike, images: int, *, folds: int = 1, chunk: int | None = None
) -> RetrievalFigures:
    """The same figures for a model that scores pairs, by the same counting.

    Args:
        scores: called with image rows and caption rows; once for chunks of images against all captions, then for chunks
            of captions against all images. Where that is costly, compute the matrix once and index it here.
        text_image: (M,) image row of each caption.
        images: number of images N.
        folds: as in `evaluate_retrieval`.
        chunk: as in `evaluate_retrieval`.
    """
    owners = _checked_owners(text_image, images, np.size(text_image))

    def fold(image_rows: NDArray[np.int64], text_rows: NDArray[np.int64], own: NDArray[np.int64]) -> _Ranks:
        return _counted(
            lambda rows: np.asarray(scores(image_rows[rows], text_rows)),
            lambda rows: np.asarray(scores(image_rows, text_rows[rows])).T,
            own,
            len(image_rows),
            chunk,
        )

    return _evaluate(fold, owners, images, folds)


def evaluate_pairs(ranker: Ranker, text_image: ArrayLike, images: int, *, folds: int = 1) -> RetrievalFigures:
    """The same figures for a model whose scores are dear, equal to those of its whole score matrix.

    Only pairs whose upper limit reaches a true item's score are scored exactly (`vse_zoo.ranking.true_ranks`).

    Args:
        ranker: called once a fold.
        text_image: (M,) image row of each caption.
        images: number of images N.
        folds: as in `evaluate_retrieval`.
    """
    owners = _checked_owners(text_image, images, np.size(text_image))

    def fold(image_rows: NDArray[np.int64], text_rows: NDArray[np.int64], own: NDArray[np.int64]) -> _Ranks:
        found = true_ranks(ranker(image_rows, text_rows), own)
        return found.rows, found.columns

    return _evaluate(fold, owners, images, folds)


def _counted(by_image: ScoreRows, by_text: ScoreRows, own: NDArray[np.int64], images: int, chunk: int | None) -> _Ranks:
    i2t = ranks(by_image, Relevance.of(own, images), len(own), chunk, "image")
    return i2t, ranks(by_text, Relevance.one_each(own), images, chunk, "caption")


def _evaluate(
    fold: Callable[[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]], _Ranks],
    owners: NDArray[np.int64],
    images: int,
    folds: int,
) -> RetrievalFigures:
    """Figures from a function of image rows, caption rows and (m,) the captions' images among these."""
    if not 1 <= folds <= images:
        raise EvaluationError(f"folds={folds} of {images} images: choose between 1 and the number of images.")
    parts = []
    for number, image_rows in enumerate(np.array_split(np.arange(images), folds)):
        text_rows = np.flatnonzero((owners >= image_rows[0]) & (owners <= image_rows[-1]))
        if len(text_rows) == 0:
            raise EvaluationError(f"fold {number} of {folds}: none of its {len(image_rows)} images has a caption.")
        i2t, t2i = fold(image_rows, text_rows, owners[text_rows] - image_rows[0])
        parts.append((Direction.of(i2t), Direction.of(t2i)))
    by_image, by_text = zip(*parts, strict=True)
    return RetrievalFigures(_mean(by_image), _mean(by_text), images, len(owners))


def _mean(parts: Sequence[Direction]) -> Direction:
    means = {field.name: float(np.mean([getattr(part, field.name) for part in parts])) for field in fields(Direction)}
    return Direction(**{**means, "queries": sum(part.queries for part in parts)})  # type: ignore[arg-type]


def _checked_owners(text_image: ArrayLike, images: int, texts: int) -> NDArray[np.int64]:
    given = np.asarray(text_image)
    if given.shape != (texts,) or texts == 0:
        raise EvaluationError(f"text_image has shape {given.shape}: expected ({texts},), each caption's image row.")
    owners = given.astype(np.int64)
    wrong = np.flatnonzero((owners < 0) | (owners >= images) | (owners != given))
    if len(wrong):
        raise EvaluationError(f"text_image, row {wrong[0]}: {given[wrong[0]]} is no row of the {images} images.")
    return owners
