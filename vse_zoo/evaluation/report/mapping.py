"""From an embedded split to the map of some of its pictures and captions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vse_zoo.evaluation.report.asking import Captions, EmbeddedSplit
from vse_zoo.evaluation.report.content import SpaceMap, Triple
from vse_zoo.evaluation.report.opening import Pictures
from vse_zoo.evaluation.tsne import tsne_points

__all__ = ["LEAST_MAPPED", "map_space"]

LEAST_MAPPED = 5
"""Pictures below which a map says nothing."""


def map_space(
    split: EmbeddedSplit, pictures: Pictures, drawn: NDArray[np.int64], random: np.random.Generator, seed: int
) -> SpaceMap:
    """Lays out the images of N drawn rows with one of their captions in each language, by chance which.

    Args:
        split: of a model whose embeddings are vectors (…, E).
        pictures: where the images are opened.
        drawn: rows with captions in every language.
        random: draws the captions.
        seed: of t-SNE.
    """
    chosen = {language: _one_each(captions, drawn, random) for language, captions in split.captions.items()}
    views = [split.images[np.searchsorted(split.rows, drawn)]]
    views += [split.captions[language].encoded[numbers] for language, numbers in chosen.items()]
    units = np.stack([_unit(np.asarray(view, np.float64)) for view in views])
    cosines = np.einsum("vne,wne->vwn", units, units)
    number = len(drawn)
    sums = units.sum(axis=1) @ units.sum(axis=1).T  # over all pairs of triples, a triple with itself included
    others = (sums - cosines.sum(axis=2)) / (number * (number - 1))
    points = tsne_points(units.reshape(-1, units.shape[2]), seed).reshape(len(views), number, 2)
    triples = []
    for position, row in enumerate(drawn.tolist()):
        captions = {language: split.captions[language].texts[at[position]] for language, at in chosen.items()}
        triples.append(Triple(pictures.open(row), captions))
    return SpaceMap(triples, points, cosines, others)


def _one_each(captions: Captions, rows: NDArray[np.int64], random: np.random.Generator) -> NDArray[np.int64]:
    """(N,) positions of one caption of each image, by chance which."""
    return np.array([random.choice(np.flatnonzero(captions.owners == row)) for row in rows])


def _unit(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
