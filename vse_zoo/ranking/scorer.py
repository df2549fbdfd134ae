"""Scores with optimal transport, and limits that spare most of it (Cross-domain alignment with optimal transport)."""

from __future__ import annotations

import numpy as np
import tensorflow as tf
from numpy.typing import NDArray

from vse_zoo.ops.bounds import ROUNDING
from vse_zoo.ranking.buckets import Bucket, in_buckets, in_one_bucket
from vse_zoo.ranking.distinct import distinct_rows
from vse_zoo.ranking.groups import Batch, batches
from vse_zoo.ranking.kernels import Form, Pairs, all_limits, pair_costs, transport_cost
from vse_zoo.ranking.solved import Solved
from vse_zoo.sets import ItemSets

__all__ = ["TransportScorer"]

_IMAGES, _TEXTS = 16, 128
"""A block of limits."""
_GROUPS, _EACH = 64, 8
"""A batch of exact scores: groups of one image with several texts, whose cosines are one matrix product."""
_TOGETHER = 2**13
"""Pairs whose plans are computed in one call, at least."""
_ROUNDS = 0, 2
"""Rounds of dual ascent: for the limits of all pairs; for those of pairs that are about to be solved."""
_KEPT = 2**27
"""Limits that are kept in memory, 512 MiB; where there are more, they're computed whenever they're asked for."""

Rows = NDArray[np.int64]
Scores = NDArray[np.float32]


class TransportScorer:
    """S = S_cos − λ⟨T, C⟩ of images (rows) and texts (columns); a `vse_zoo.ranking.PairScorer`.

    C = 1 − cosine; T is the IPOT plan with uniform masses, rounded to exact marginals. Equal images and equal texts are
    found once and scored once, so they tie exactly; a score that was computed is kept. A limit holds for the score in
    float32: it includes the worst rounding of all the sums in between.

    Args:
        images: N sets of unit vectors, regions.
        texts: M sets, words.
        weight: λ ≥ 0. With 0 no plan is computed, and S is S_cos.
        direction: S_cos adds "text_image", every word's best region, or "image_text", every region's best word.
        reduction: "sum" or "mean" of these.
        beta: of IPOT.
        iterations: of IPOT.

    Raises:
        ValueError: vectors of different lengths, or λ < 0.
    """

    def __init__(
        self,
        images: ItemSets,
        texts: ItemSets,
        *,
        weight: float,
        direction: str = "text_image",
        reduction: str = "sum",
        beta: float = 0.5,
        iterations: int = 20,
    ) -> None:
        sizes = images.items.shape[1], texts.items.shape[1]
        if sizes[0] != sizes[1] or not weight >= 0:
            raise ValueError(f"length of regions and words, λ: found {sizes}, {weight}; expected equal ones, λ ≥ 0.")
        self.shape = len(images), len(texts)
        self.form = Form(direction, reduction, float(weight))
        self.solves = 0
        self._plan = float(beta), int(iterations)
        self._slack = tf.constant(_slack(images, texts), tf.float32)
        (distinct, self._image_of), (others, self._text_of) = distinct_rows(images), distinct_rows(texts)
        self._regions, self._words = tf.constant(images.items, tf.float32), tf.constant(texts.items, tf.float32)
        self._images = in_one_bucket(images, distinct)
        self._texts, self._places = in_buckets(texts, others)
        # A product with plain rows is several times faster.
        self._across = tf.transpose(tf.gather(self._regions, self._images.rows), (0, 2, 1))
        self._solved = Solved()
        self._limits: Scores | None = None

    def limits(self, rows: Rows, columns: Rows) -> Scores:
        """(a,) rows and (b,) columns to (a, b) upper limits of their scores."""
        images, texts = self._image_of[rows], self._text_of[columns]
        if len(self._images.members) * len(self._places) > _KEPT:
            (some, image), (others, text) = (np.unique(each, return_inverse=True) for each in (images, texts))
            return self._limits_of(some, others)[image[:, None], text]
        if self._limits is None:
            self._limits = self._limits_of(self._images.members, np.arange(len(self._places)))
        return self._limits[images[:, None], texts]

    def scores(self, rows: Rows, columns: Rows, at_least: Scores | None = None) -> Scores:
        """(p,) exact scores of pairs; −inf where a limit shows that the score is below ``at_least`` (p,)."""
        numbers = self._image_of[rows] * len(self._places) + self._text_of[columns]
        distinct, copies = np.unique(numbers, return_inverse=True)
        least = np.full(len(distinct), -np.inf, np.float32)
        if at_least is not None:
            least[:] = np.inf
            np.minimum.at(least, copies, at_least)
        found = self._solved.of(distinct)
        new = np.flatnonzero(np.isnan(found))
        images, texts = np.divmod(distinct[new], len(self._places))
        found[new] = self._solve(images, texts, least[new])
        kept = new[np.isfinite(found[new])]
        self._solved.add(distinct[kept], found[kept])
        return found[copies]

    def _limits_of(self, images: Rows, texts: Rows) -> Scores:
        """Limits (a, b) of distinct images and texts."""
        blocks = -(-len(images) // _IMAGES)
        padded = np.resize(images, (blocks, _IMAGES))
        regions = tf.gather(self._regions, tf.gather(self._images.rows, padded))
        mask = tf.gather(self._images.mask, padded)
        function = all_limits(self.form, _ROUNDS[0])
        found = np.empty((len(images), len(texts)), np.float32)
        buckets, places = self._places[texts].T
        for number, bucket in enumerate(self._texts):
            wanted = np.flatnonzero(buckets == number)
            for start in range(0, len(wanted), _TEXTS):
                some = wanted[start : start + _TEXTS]
                these = np.resize(places[some], _TEXTS)
                words = tf.gather(self._words, tf.gather(bucket.rows, these)), tf.gather(bucket.mask, these)
                found[:, some] = function(regions, mask, *words, self._slack).numpy()[: len(images), : len(some)]
        return found

    def _solve(self, images: Rows, texts: Rows, least: Scores) -> Scores:
        """Scores (p,) of distinct images and texts, pairs of one bucket at a time."""
        found = np.full(len(images), -np.inf, np.float32)
        buckets, places = self._places[texts].T
        for number, bucket in enumerate(self._texts):
            mine = np.flatnonzero(buckets == number)
            parts: list[Pairs] = []
            pairs: list[Rows] = []
            for batch in batches(images[mine], places[mine], _GROUPS, _EACH):
                part, kept = self._survivors(bucket, batch, least[mine[batch.pairs]])
                parts.append(part)
                pairs.append(mine[batch.pairs[kept]])
                if sum(map(len, pairs)) >= _TOGETHER:
                    found[np.concatenate(pairs)] = self._exact(parts)
                    parts, pairs = [], []
            if parts:
                found[np.concatenate(pairs)] = self._exact(parts)
        return found

    def _survivors(self, bucket: Bucket, batch: Batch, least: Scores) -> tuple[Pairs, NDArray[np.bool_]]:
        """A batch's pairs whose limit reaches ``least``, and which these are."""
        function = pair_costs(self.form, _ROUNDS[1])
        texts = self._words, bucket.rows, bucket.mask
        part = function(self._across, self._images.mask, *texts, batch.images, batch.texts, self._slack)
        kept = part.limit.numpy()[batch.slots] >= least
        return Pairs(*(tf.gather(each, batch.slots[kept]) for each in part)), kept

    def _exact(self, parts: list[Pairs]) -> Scores:
        """S of pairs."""
        joined = Pairs(*(tf.concat(each, 0) for each in zip(*parts, strict=True)))
        if not self.form.weight or not len(joined.cosine):
            return joined.cosine.numpy()
        self.solves += len(joined.cosine)
        beta, iterations = self._plan
        cost = transport_cost(joined.cost, joined.row_mask, joined.column_mask, beta=beta, iterations=iterations)
        return (joined.cosine - self.form.weight * cost).numpy()


def _slack(images: ItemSets, texts: ItemSets) -> tuple[float, float]:
    """How far rounding can move a cosine term of S, and ⟨T, C⟩ or its bound.

    A product of E terms is off by at most E·2⁻²⁴·|v||w| (Higham, 2002, §3.1), once here and once in the exact score; a
    mean of n + m terms by (n + m)·2⁻²⁴; `ROUNDING` covers the potentials and the plan.
    """
    reach = _longest(images) * _longest(texts)
    size = int(images.counts.max() + texts.counts.max()) + 8
    product = 2 * images.items.shape[1] * 2.0**-24 * reach
    return product + ROUNDING * size * reach, product + ROUNDING * size * (1 + reach)


def _longest(sets: ItemSets) -> float:
    """The largest norm of an item; `np.linalg.norm` would square a copy of all."""
    return float(np.sqrt(np.einsum("te,te->t", sets.items, sets.items).max()))
