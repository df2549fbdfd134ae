"""Sentences of one language search those of another: figures of a space that languages share, without its pictures.

A sentence is answered by *any* sentence of the other language that describes the same image (hit rate), as an image is
by any of its captions; the image's other captions never count as wrong. All conventions are those of
`vse_zoo.evaluation.retrieval`: ties count against the query, NaN is an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vse_zoo.data.dataset import Dataset
from vse_zoo.errors import EvaluationError, located
from vse_zoo.evaluation.evaluate import Encoder
from vse_zoo.evaluation.ranks import Relevance, ranks
from vse_zoo.evaluation.retrieval import Direction
from vse_zoo.evaluation.scoring import checked_embeddings, dot_products
from vse_zoo.evaluation.sentences import embed_sentences

__all__ = ["SentenceFigures", "evaluate_between", "evaluate_sentences"]

Owners = NDArray[np.int64]


@dataclass(frozen=True)
class SentenceFigures:
    """Sentences of a first language that search a second one's, and the other way round; how many images they share."""

    forward: Direction
    backward: Direction
    images: int

    @property
    def rsum(self) -> float:
        """R@1 + R@5 + R@10 of both directions: at most 600."""
        return sum(self.forward.recalls) + sum(self.backward.recalls)

    def as_dict(self) -> dict[str, object]:
        """Plain numbers for JSON."""
        return {**asdict(self), "rsum": self.rsum}


def evaluate_between(
    model: Encoder, dataset: Dataset, split: str, languages: Sequence[str]
) -> dict[tuple[str, str], SentenceFigures]:
    """Figures of every two of the languages, over the images of the split that have captions in both.

    Args:
        model: encodes sentences into one space; ``dataset`` needs no features.
        dataset: an opened folder.
        split: its name.
        languages: two or more.

    Raises:
        EvaluationError: fewer than two languages, one of which the model or the split knows nothing, no image with
            captions in both, a model that compares sets of words, or embeddings that are not finite.
    """
    if len(set(languages)) < max(2, len(languages)):
        problem = f"found {', '.join(languages) or 'none'}, expected two or more different ones."
        raise EvaluationError(f"languages: {problem}")
    captions = {language: dataset.captions(split, language) for language in languages}
    embedded = {language: embed_sentences(model, texts, language) for language, (texts, _) in captions.items() if texts}
    figures = {}
    for first, second in combinations(languages, 2):
        shared = np.intersect1d(captions[first][1], captions[second][1])
        if len(shared) == 0:
            problem = f"no image of split {split!r} has captions in both {first!r} and {second!r}."
            raise EvaluationError(located(dataset.path, problem))
        kept = [np.isin(captions[language][1], shared) for language in (first, second)]
        sides = embedded[first][kept[0]], embedded[second][kept[1]]
        figures[first, second] = evaluate_sentences(*sides, captions[first][1][kept[0]], captions[second][1][kept[1]])
    return figures


def evaluate_sentences(
    first: ArrayLike, second: ArrayLike, first_image: Owners, second_image: Owners, *, chunk: int | None = None
) -> SentenceFigures:
    """Figures of embeddings compared by their dot product (of unit vectors: the cosine).

    Args:
        first: (N, E) finite numbers, a sentence each, in any order.
        second: (M, E), the other language's.
        first_image: (N,) the image that each describes, a number from 0.
        second_image: (M,) likewise. A sentence whose image the other side lacks is no query, but may be found wrongly.
        chunk: queries scored at a time; by default as many as keep the scores within about 32 MiB.

    Raises:
        EvaluationError: NaN or infinite values (the row is named), shapes that don't fit, or no shared image.
    """
    sides = checked_embeddings(first, "first"), checked_embeddings(second, "second")
    if sides[0].shape[1] != sides[1].shape[1]:
        found = f"found {sides[0].shape[1]} and {sides[1].shape[1]} dimensions"
        raise EvaluationError(f"sentences: {found}, expected embeddings from one space.")
    images = _checked(first_image, len(sides[0]), "first_image"), _checked(second_image, len(sides[1]), "second_image")
    shared = np.intersect1d(*images)
    if len(shared) == 0:
        raise EvaluationError("sentences: no image is described on both sides.")
    directions = [
        Direction.of(
            ranks(dot_products(sides[a], sides[b]), _same_image(images[a], images[b]), len(sides[b]), chunk, kind)
        )
        for a, b, kind in ((0, 1, "first sentence"), (1, 0, "second sentence"))
    ]
    return SentenceFigures(directions[0], directions[1], len(shared))


def _same_image(queries: Owners, items: Owners) -> Relevance:
    """For each query the items of its image."""
    order = np.argsort(items, kind="stable")
    start, stop = (np.searchsorted(items[order], queries, side=side) for side in ("left", "right"))
    own = [order[a:b] for a, b in zip(start, stop, strict=True)]
    return Relevance(np.concatenate(own), np.concatenate([[0], np.cumsum(stop - start)]))


def _checked(images: Owners, sentences: int, name: str) -> Owners:
    given = np.asarray(images)
    if given.shape != (sentences,) or not np.issubdtype(given.dtype, np.integer):
        expected = f"({sentences},) whole numbers, each sentence's image"
        raise EvaluationError(f"{name}: found {given.dtype} of shape {given.shape}, expected {expected}.")
    return given.astype(np.int64)
