"""From a vocabulary and training sentences to a layer that turns sentences into Fisher vectors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from vse_zoo.errors import DataError, located
from vse_zoo.features.fisher.gaussian import fit_gaussian_mixture
from vse_zoo.features.fisher.hybrid import fit_hybrid_mixture
from vse_zoo.features.fisher.layer import FisherVectors
from vse_zoo.features.word_vectors import WordVectors, learn_word_vectors, read_word_vectors

__all__ = ["fit_fisher_vectors", "vectors_of_words"]


def vectors_of_words(
    words: Sequence[str], sentences: Sequence[Sequence[int]], word_dim: int, path: str | Path | None = None
) -> WordVectors:
    """Vectors of a vocabulary, read from a file or learned from the sentences.

    Args:
        words: the vocabulary by id; the first two stand for padding and unknown words.
        sentences: training sentences as word ids.
        word_dim: D.
        path: a word2vec, fastText or GloVe file; None: learn them.

    Raises:
        DataError: the file can't be read, or its vectors have another length.
    """
    if path is None:
        return learn_word_vectors(sentences, len(words), word_dim)
    found = read_word_vectors(path, words)
    if found.vectors.shape[1] != word_dim:
        problem = f"found vectors of length {found.vectors.shape[1]}, expected word_dim, {word_dim}."
        raise DataError(located(Path(path), problem))
    return found


def fit_fisher_vectors(
    layer: FisherVectors, vectors: WordVectors, sentences: Sequence[Sequence[int]], seed: int = 0
) -> None:
    """Fits a Gaussian and a hybrid mixture to the words of training sentences, and adapts a layer to them.

    Args:
        layer: with ``mixtures=2``, for the vocabulary and the length of the vectors.
        vectors: of the vocabulary's words.
        sentences: training sentences as word ids; a word counts as often as it occurs.
        seed: of the mixtures' starts.
    """
    words = np.concatenate([np.asarray(sentence, np.int64) for sentence in sentences])
    counts = np.bincount(words, minlength=len(vectors.found))
    used = vectors.found & (counts > 0)
    fits = (fit_gaussian_mixture, fit_hybrid_mixture)
    mixtures = [fit(vectors.vectors[used], layer.components, seed, counts[used]) for fit in fits]
    layer.adapt(vectors.vectors, vectors.found, mixtures)
