"""A model's retrieval figures on a split of a dataset folder, per language."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from vse_zoo.data.dataset import Dataset
from vse_zoo.errors import EvaluationError, located
from vse_zoo.evaluation.retrieval import RetrievalFigures, evaluate_pairs, evaluate_retrieval
from vse_zoo.evaluation.scoring import checked_sets
from vse_zoo.ranking import PairScorer
from vse_zoo.sets import ItemSets, joined

__all__ = [
    "Encoded",
    "Encoder",
    "PairwiseModel",
    "embed_captions",
    "embed_images",
    "evaluate",
    "evaluate_each",
    "figures_as_dict",
    "total_rsum",
]


Encoded = NDArray[Any] | ItemSets
"""What a model encodes N items to: (N, E) vectors, or N sets of vectors."""


class Encoder(Protocol):
    """What evaluation needs of a model (`vse_zoo.models.base.VSEModel` has it)."""

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages that `encode_text` takes."""

    def encode_image(self, regions: NDArray[Any], region_mask: NDArray[np.bool_]) -> Encoded:
        """(B, R, D) regions and (B, R) mask to (B, E) embeddings, or B sets."""

    def encode_text(self, texts: Sequence[str], language: str) -> Encoded:
        """Sentences to (B, E) embeddings, or B sets."""


class PairwiseModel(Encoder, Protocol):
    """An `Encoder` to sets."""

    def ranker(self, images: ItemSets, texts: ItemSets) -> PairScorer:
        """What scores pairs of these, and knows limits of the scores."""


def evaluate(
    model: Encoder, dataset: Dataset, split: str, languages: Sequence[str] | None = None, *, folds: int = 1
) -> dict[str, RetrievalFigures]:
    """Figures of each language, over the split's images that have captions in it.

    Args:
        model: encodes images and sentences into one space; or to sets, with ``ranker`` (`PairwiseModel`).
        dataset: an opened folder with region features.
        split: its name; languages: all that the model and the dataset share by default.
        folds: as in `evaluate_retrieval`.

    Raises:
        EvaluationError: the split has no caption in a language, or embeddings are not finite.
    """
    return evaluate_each(model, dataset, split, languages, folds=(folds,))[0]


def evaluate_each(
    model: Encoder, dataset: Dataset, split: str, languages: Sequence[str] | None = None, *, folds: Sequence[int]
) -> list[dict[str, RetrievalFigures]]:
    """The figures of `evaluate` for several numbers of folds, in their order; everything is encoded once."""
    wanted = tuple(languages or (language for language in dataset.languages if language in model.languages))
    if not wanted:
        known, found = ", ".join(model.languages), ", ".join(dataset.languages)
        raise EvaluationError(located(dataset.path, f"found captions in {found}, the model knows {known}."))
    captions = {language: dataset.captions(split, language) for language in wanted}
    for language, (texts, _) in captions.items():
        if not texts:
            raise EvaluationError(located(dataset.path, f"split '{split}' has no caption in '{language}'."))
    rows = np.unique(np.concatenate([owners for _, owners in captions.values()]))
    images = embed_images(model, dataset, rows)
    figures: list[dict[str, RetrievalFigures]] = [{} for _ in folds]
    for language, (texts, owners) in captions.items():
        searched, text_image = np.unique(owners, return_inverse=True)
        embedded, sentences = images[np.searchsorted(rows, searched)], embed_captions(model, texts, language)
        for each, number in zip(figures, folds, strict=True):
            each[language] = _figures(model, embedded, sentences, text_image, number)
    return figures


def _figures(
    model: Any, images: Encoded, texts: Encoded, text_image: NDArray[np.int64], folds: int
) -> RetrievalFigures:
    if isinstance(images, ItemSets) and isinstance(texts, ItemSets):
        regions, words = checked_sets(images, "regions of images"), checked_sets(texts, "words of captions")
        return evaluate_pairs(lambda i, t: model.ranker(regions[i], words[t]), text_image, len(images), folds=folds)
    return evaluate_retrieval(np.asarray(images), np.asarray(texts), text_image, folds=folds)


def embed_images(model: Encoder, dataset: Dataset, rows: NDArray[np.int64], chunk: int = 256) -> Encoded:
    """(rows, E) embeddings of dataset rows, or their sets; only a chunk of regions is in memory."""
    parts = [model.encode_image(*dataset.regions(rows[i : i + chunk])) for i in range(0, len(rows), chunk)]
    return joined(parts)


def embed_captions(model: Encoder, texts: Sequence[str], language: str) -> Encoded:
    """(texts, E) embeddings, or sets. Equal sentences are encoded once: in different batches they could differ by a
    rounding error, and the tie between two images with the same caption would go to one of them by chance.
    """
    distinct, copies = np.unique(np.asarray(texts, dtype=object).astype(str), return_inverse=True)
    found = model.encode_text(distinct.tolist(), language)
    return found[copies] if isinstance(found, ItemSets) else np.asarray(found)[copies]


def total_rsum(figures: Mapping[str, RetrievalFigures]) -> float:
    """The sum of rsum over the languages: what picks the best epoch."""
    return sum(each.rsum for each in figures.values())


def figures_as_dict(figures: Mapping[str, RetrievalFigures], split: str) -> dict[str, Any]:
    """Plain numbers for JSON: ``{split, rsum, languages: {en: {i2t: {r1, …}, t2i, images, texts, rsum}}}``."""
    languages = {language: each.as_dict() for language, each in figures.items()}
    return {"split": split, "rsum": total_rsum(figures), "languages": languages}
