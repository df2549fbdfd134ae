"""Word vectors learned from captions: PPMI of co-occurrences, factorised by a truncated SVD.

Levy and Goldberg, NIPS 2014 (shifted PPMI is what skip-gram with negative sampling factorises), with the choices of
Levy, Goldberg and Dagan, TACL 2015: smoothed contexts, singular values to the power ½.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import svds

from vse_zoo.errors import DataError
from vse_zoo.features.word_vectors.vectors import WordVectors

__all__ = ["learn_word_vectors"]


def learn_word_vectors(
    sentences: Sequence[Sequence[int]] | np.ndarray,
    vocabulary_size: int,
    dim: int = 300,
    *,
    window: int = 5,
    smoothing: float = 0.75,
    negatives: float = 1.0,
    special_ids: int = 2,
) -> WordVectors:
    """Learns a vector for every word that co-occurs with others; the same sentences give the same vectors.

    With counts #(w, c) of words within ``window`` of one another, ``PMI = log #(w,c) Σ#(c)^α / (#(w) #(c)^α)``; the
    matrix ``max(PMI − log negatives, 0) = U Σ Vᵀ`` is cut at D singular values, and the vectors are ``U √Σ``.

    Args:
        sentences: word ids: lists of any lengths, or (N, T) padded with 0.
        vocabulary_size: V.
        dim: D.
        window: words on either side that count as context. At 2 the neighbours of a word can replace it ('dog' and
            'puppy'); at 5, half a caption, they rather stand beside it ('beach' and 'sand'), which retrieves better.
        smoothing: α, the exponent of the contexts' distribution.
        negatives: the shift, as a number of negative samples; 1 shifts nothing.
        special_ids: ids below it (padding, unknown) keep their place in a sentence and have no vector.

    Returns:
        (V, D) float32; zero and not found for words that co-occur with none.

    Raises:
        DataError: an id outside the vocabulary, or ``dim`` above the rank of the matrix.
    """
    counts = _cooccurrences(sentences, vocabulary_size, window, special_ids)
    ppmi = _positive_pmi(counts, smoothing, negatives)
    # A row of the matrix for every word that has any; a column likewise.
    rows, columns = np.flatnonzero(np.diff(ppmi.indptr)), np.unique(ppmi.indices)
    left, singular = _singular_vectors(ppmi[rows][:, columns], dim)
    vectors = np.zeros((vocabulary_size, dim), np.float32)
    vectors[rows] = left * np.sqrt(singular)
    found = np.zeros(vocabulary_size, bool)
    found[rows] = True
    return WordVectors(vectors, found)


def _cooccurrences(
    sentences: Sequence[Sequence[int]] | np.ndarray, vocabulary_size: int, window: int, special_ids: int
) -> sparse.csr_matrix:
    """#(w, c): (V, V), symmetric."""
    lengths = np.array([len(sentence) for sentence in sentences], np.int64)
    parts = [np.asarray(sentence, np.int64) for sentence in sentences]
    words = np.concatenate([np.zeros(0, np.int64), *parts])
    if words.size and not 0 <= words.min() <= words.max() < vocabulary_size:
        found = f"found {words.min()} to {words.max()}, expected 0 to {vocabulary_size - 1}"
        raise DataError(f"word ids: {found}. Use the vocabulary that made the ids.")
    numbers = np.repeat(np.arange(len(lengths)), lengths)
    shape = (vocabulary_size, vocabulary_size)
    counts = sparse.csr_matrix(shape, dtype=np.float64)
    for distance in range(1, window + 1):
        first, second = words[:-distance], words[distance:]
        both = (numbers[:-distance] == numbers[distance:]) & (np.minimum(first, second) >= special_ids)
        counts += sparse.coo_matrix((np.ones(both.sum()), (first[both], second[both])), shape).tocsr()
    return (counts + counts.T).tocsr()


def _positive_pmi(counts: sparse.csr_matrix, smoothing: float, negatives: float) -> sparse.csr_matrix:
    """max(PMI − log negatives, 0) without stored zeros."""
    pairs = counts.tocoo()
    totals = np.asarray(counts.sum(axis=1)).ravel()
    contexts = totals**smoothing
    information = np.log(pairs.data * contexts.sum() / (totals[pairs.row] * contexts[pairs.col]))
    values = np.maximum(information - np.log(negatives), 0.0)
    ppmi = sparse.coo_matrix((values, (pairs.row, pairs.col)), counts.shape).tocsr()
    ppmi.eliminate_zeros()
    return ppmi


def _singular_vectors(matrix: sparse.csr_matrix, dim: int) -> tuple[np.ndarray, np.ndarray]:
    """The first left singular vectors (N, D), each with its largest entry positive, and the singular values (D,)."""
    # The iterative solver finds all but one of the singular vectors at most.
    most = min(matrix.shape) - 1
    rank = most
    if 1 <= dim <= most:
        start = np.random.default_rng(0).normal(size=min(matrix.shape))
        left, singular, _ = svds(matrix, dim, v0=start, solver="arpack")
        order = np.argsort(-singular, kind="stable")
        left, singular = left[:, order], singular[order]
        rank = int((singular > 1e-8 * singular[0]).sum())
    if not 1 <= dim <= rank:
        problem = f"found {dim} dimensions, expected 1 to {max(rank, 0)}: the rank of the co-occurrences allows no more"
        raise DataError(f"word vectors: {problem}. Use fewer dimensions or more captions.")
    largest = left[np.abs(left).argmax(axis=0), np.arange(dim)]
    return left * np.sign(largest), singular
