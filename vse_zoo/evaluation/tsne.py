"""A plane in which vectors that are alike are near one another (t-SNE, van der Maaten and Hinton, JMLR 2008)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.manifold import TSNE

__all__ = ["tsne_points"]

_PERPLEXITY = 30.0
_FLAT = 1e-6


def tsne_points(vectors: ArrayLike, seed: int = 0) -> NDArray[np.float64]:
    """Positions of N ≥ 4 vectors (N, E) by scikit-learn's t-SNE of cosine distances, in its own scale: (N, 2).

    Perplexity is 30, or a third of the others where they are fewer; the layout starts from principal components, or at
    random where the vectors are all equal.
    """
    rows = np.asarray(vectors, np.float32)
    start = "pca" if np.ptp(rows, axis=0).max() > _FLAT else "random"
    perplexity = min(_PERPLEXITY, (len(rows) - 1) / 3)
    layout = TSNE(2, metric="cosine", init=start, perplexity=perplexity, random_state=seed)
    return np.asarray(layout.fit_transform(rows), np.float64)
