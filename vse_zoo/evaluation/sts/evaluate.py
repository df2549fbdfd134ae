"""Correlations of cosines with gold scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import pearsonr, spearmanr

from vse_zoo.errors import EvaluationError, located
from vse_zoo.evaluation.evaluate import Encoder
from vse_zoo.evaluation.scoring import checked_embeddings
from vse_zoo.evaluation.sentences import embed_sentences
from vse_zoo.evaluation.sts.files import STSPairs, read_sts

__all__ = ["Encode", "STSFigures", "evaluate_sts", "sentence_encoder"]

Encode = Callable[[Sequence[str]], ArrayLike]
"""N sentences to (N, E) embeddings of any length: they are compared by their cosine."""

# Cosines of float32 embeddings that should be equal differ by some 1e-7: r of these would be of rounding errors.
_SPREAD = 1e-6


@dataclass(frozen=True)
class STSFigures:
    """Figures of one file.

    Args:
        pairs: P, how many were compared.
        skipped: how many have no gold score.
        pearson: r of the P cosines and gold scores, −1 to 1.
        spearman: ρ, the same of their ranks; ties have their mean rank.
    """

    pairs: int
    skipped: int
    pearson: float
    spearman: float


def evaluate_sts(encode: Encode, folder: Path, encoding: str | None = None) -> dict[str, STSFigures]:
    """Figures of every file below a folder, by its name (`read_sts`).

    Args:
        encode: any sentence encoder; each distinct sentence of a file is encoded once. A zero vector, such as that of a
            sentence of unknown words, has cosine 0 with every other.
        folder: of one year, or of several years' folders.
        encoding: as in `read_sts`.

    Raises:
        DataError: as in `read_sts`.
        EvaluationError: embeddings are not finite or not one a sentence, or all cosines or all gold scores of a file
            are equal, so that there is no correlation.
    """
    return {pairs.name: _figures(encode, pairs) for pairs in read_sts(folder, encoding)}


def sentence_encoder(model: Encoder, language: str = "en") -> Encode:
    """A model of the zoo, in one language, as what `evaluate_sts` takes; its errors are those of `embed_sentences`."""
    return lambda sentences: embed_sentences(model, sentences, language)


def _figures(encode: Encode, pairs: STSPairs) -> STSFigures:
    if len(pairs.gold) < 2 or np.ptp(pairs.gold) == 0:
        problem = f"found {len(pairs.gold)} pairs with {len(np.unique(pairs.gold))} different gold scores"
        raise EvaluationError(located(pairs.path, f"{problem}, expected at least 2 of each for a correlation."))
    cosines = _cosines(encode, pairs)
    if np.ptp(cosines) < _SPREAD:
        problem = f"all {len(cosines)} cosines are {cosines[0]:.6g}, so that they correlate with nothing"
        raise EvaluationError(located(pairs.path, f"{problem}: the encoder tells no sentences apart."))
    pearson, spearman = (float(kind(cosines, pairs.gold).statistic) for kind in (pearsonr, spearmanr))
    return STSFigures(len(cosines), pairs.skipped, pearson, spearman)


def _cosines(encode: Encode, pairs: STSPairs) -> NDArray[np.float64]:
    """(P,) cosines; equal sentences share an embedding, so theirs is 1."""
    distinct = sorted({*pairs.first, *pairs.second})
    embedded = checked_embeddings(encode(distinct), f"embeddings of {pairs.path.name}").astype(np.float64)
    if len(embedded) != len(distinct):
        raise EvaluationError(f"found {len(embedded)} embeddings of {len(distinct)} sentences, expected one each.")
    lengths = np.linalg.norm(embedded, axis=1, keepdims=True)
    unit = embedded / np.where(lengths > 0, lengths, 1.0)
    place = {sentence: row for row, sentence in enumerate(distinct)}
    first, second = ([place[sentence] for sentence in side] for side in (pairs.first, pairs.second))
    return np.einsum("pe,pe->p", unit[first], unit[second])
