"""The exact best photos of a model that scores regions with words, by candidates that any backend can give."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vse_zoo.search.best import NOTHING, best
from vse_zoo.search.protocol import Backend, Hits
from vse_zoo.sets import ItemSets

__all__ = ["rerank"]

_FIRST = 128
"""Candidates of the first round; each next one takes twice as many."""


def rerank(backend: Backend, model: Any, words: NDArray[np.float32], k: int) -> Hits:
    """The best ``k`` keys by S = S_cos − λ⟨T, C⟩, exactly as if every photo had been scored.

    Candidates come in order of M = Σ_w max_r cos(w, r). Every word has the mass 1/W and pays at least its least cost,
    so ⟨T, C⟩ ≥ 1 − M/W, and S ≤ (1 + λ/W)·M − λ where S_cos is a sum, or 1/W of the first where it is a mean. Once that
    is below the k-th best score, no candidate that is left can matter.

    Args:
        backend: of sets (R, E).
        model: a `PairwiseVSEModel` whose score adds every word's best region.
        words: (W, E) unit vectors of the query.
        k: wanted.
    """
    count = np.array([len(words)], np.int64)
    found, seen, wanted = NOTHING, np.zeros(0, np.int64), max(_FIRST, 4 * k)
    while True:
        keys, sums = backend.search(words, wanted)
        fresh = keys[~np.isin(keys, seen)]
        if len(fresh):
            scores = _scores(backend.vectors(fresh), ItemSets(words, count), model, k, found)
            found = best(np.concatenate([found[0], fresh]), np.concatenate([found[1], scores]), k)
            seen = np.union1d(seen, keys)
        if len(keys) < wanted or (len(found[1]) == k and _limit(model, sums[-1], len(words)) < found[1][-1]):
            return found[0][found[1] > -np.inf], found[1][found[1] > -np.inf]
        wanted *= 2


def _scores(vectors: NDArray[np.float32], words: ItemSets, model: Any, k: int, found: Hits) -> NDArray[np.float32]:
    """(n,) exact scores of sets (n, R, E), or −inf where one is below the k-th best already found."""
    n, r, e = vectors.shape
    images = ItemSets(np.ascontiguousarray(vectors).reshape(n * r, e), np.full(n, r, np.int64))
    least = found[1][k - 1] if len(found[1]) >= k else np.float32(-np.inf)
    rows = np.arange(n)
    return model.ranker(images, words).scores(rows, np.zeros(n, np.int64), np.full(n, least, np.float32))


def _limit(model: Any, total: float, words: int) -> float:
    """What no set whose Σ_w max_r cos(w, r) is at most ``total`` can score more than."""
    weight = model.alignment.transport_weight
    mean = float(total) / words
    cosine = float(total) if model.alignment.reduction == "sum" else mean
    # Sums of E products in float32 are off by less than E·2⁻²⁴ (Higham, 2002, §3.1), here and in the exact score.
    slack = 1e-4 * (words + weight)
    return cosine - weight * max(0.0, 1.0 - mean) + slack
