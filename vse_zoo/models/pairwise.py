"""Models whose scores need the regions and the words themselves, not one vector of each side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from vse_zoo.models.alignment import Alignment
from vse_zoo.models.base import VSEModel
from vse_zoo.ops import transport_plan
from vse_zoo.ops.blocks import MULTIPLE
from vse_zoo.preprocessing import TextPreprocessor
from vse_zoo.ranking import TransportScorer
from vse_zoo.sets import ItemSets

__all__ = ["PairwiseVSEModel"]

Array = np.ndarray

_IMAGES, _TEXTS = 256, 512
"""Sets that are padded and scored together."""


class PairwiseVSEModel(VSEModel):
    """A model that encodes pictures and sentences to sets of unit vectors and scores all pairs of sets.

    Args:
        preprocessor: as in `VSEModel`.
        region_dim: as in `VSEModel`.
        alignment: the scores of all pairs, an `AlignmentSimilarity`.
    """

    similarity_kind = "pairwise"

    def __init__(self, preprocessor: TextPreprocessor | None, region_dim: int, alignment: Any, **kwargs: Any) -> None:
        super().__init__(preprocessor, region_dim, **kwargs)
        self.alignment = alignment

    def encode_image(self, regions: Array, region_mask: Array | None = None, batch_size: int = 256) -> Any:
        """Encodes images, in batches.

        Args:
            regions: (N, R, D) float, any precision; or (R, D), one image.
            region_mask: (N, R) bool, True on real regions; all are real by default.
            batch_size: images a batch.

        Returns:
            `ItemSets` of N images: a unit vector of each real region, in order; of one image for (R, D).

        Raises:
            ValueError: D is not the model's ``region_dim``, there is no image, or the mask fits other regions.
        """
        regions, mask = self.checked_regions(regions, region_mask)
        chunks = self.image_chunks(regions, mask, batch_size)
        own = (mask[i : i + batch_size] for i in range(0, len(mask), batch_size))
        items = np.concatenate([chunk[each] for chunk, each in zip(chunks, own, strict=True)])
        return ItemSets(items, mask.sum(axis=1))

    def encode_text(self, texts: Sequence[str], language: str = "en", batch_size: int = 512) -> Any:
        """Encodes sentences, in batches of similar length; the results keep the order of ``texts``.

        Args:
            texts: N sentences, or one string.
            language: one of `languages`.
            batch_size: sentences a batch.

        Returns:
            `ItemSets` of N sentences; of one for one string.

        Raises:
            DataError: the model does not know the language.
        """
        texts = [texts] if isinstance(texts, str) else texts
        chunks, lengths, order = self.text_chunks(texts, language, batch_size)
        own = (lengths[order[i : i + batch_size], None] for i in range(0, len(order), batch_size))
        pairs = zip(chunks, own, strict=True)
        items = np.concatenate([chunk[np.arange(chunk.shape[1]) < each] for chunk, each in pairs])
        return ItemSets(items, lengths[order])[np.argsort(order)]

    def similarity(self, images: Any, texts: Any) -> Array:
        """Scores of all pairs, the plans with exact marginals: `ItemSets` of N images and of M texts to (N, M)."""
        scores = np.empty((len(images), len(texts)), np.float32)
        width = int(images.counts.max())  # of all, since the solver is compiled for a number of regions
        for i in range(0, len(images), _IMAGES):
            regions, region_mask = map(tf.constant, images[i : i + _IMAGES].padded(width))
            for j in range(0, len(texts), _TEXTS):
                words, word_mask = map(tf.constant, texts[j : j + _TEXTS].padded())
                tile = self.alignment(regions, words, regions_mask=region_mask, words_mask=word_mask, feasible=True)
                scores[i : i + _IMAGES, j : j + _TEXTS] = tile
        return scores

    def ranker(self, images: ItemSets, texts: ItemSets) -> TransportScorer:
        """Scores of images (rows) and texts (columns) that `vse_zoo.ranking` ranks without computing all of them."""
        return TransportScorer(
            images,
            texts,
            weight=self.alignment.transport_weight,
            direction=self.alignment.aggregation,
            reduction=self.alignment.reduction,
            beta=self.alignment.beta,
            iterations=self.alignment.iterations,
        )

    def align(self, images: ItemSets, texts: ItemSets) -> tuple[Array, Array]:
        """How each image meets the sentence of the same row: plans with exact marginals and cosines, (N, R, T) both, 0
        after the last region and word of each.
        """
        if len(images) != len(texts):
            raise ValueError(f"images and texts: found {len(images)} and {len(texts)}, expected pairs.")
        longest = int(texts.counts.max())
        (regions, region_mask), (words, word_mask) = images.padded(), texts.padded(longest + -longest % MULTIPLE)
        cosines = np.einsum("nre,nte->nrt", regions, words)
        solver = {"beta": self.alignment.beta, "iterations": self.alignment.iterations, "feasible": True}
        plans = transport_plan(tf.constant(1.0 - cosines), region_mask, word_mask, **solver).plan
        return plans.numpy()[:, :, :longest], cosines[:, :, :longest]

    def explain(self, regions: Array, text: str, language: str = "en") -> Alignment:
        """How the words of a sentence meet the (R, D) regions of a picture."""
        images, texts = self.encode_image(regions), self.encode_text(text, language)
        plans, cosines = self.align(images, texts)
        words = [word.decode() for word in self.preprocessor.words([text]).to_list()[0]]
        return Alignment(words, cosines[0], plans[0], float(self.similarity(images, texts)[0, 0]))
