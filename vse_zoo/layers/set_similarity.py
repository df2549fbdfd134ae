"""What the layers that compare sets of regions with sets of words share: their masks and the shape of their scores."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from vse_zoo.layers.full_precision import FullPrecisionLayer
from vse_zoo.ops.transport import check_solver

__all__ = ["SetSimilarity", "mask_of"]

Tensor = Any


class SetSimilarity(FullPrecisionLayer):
    """Scores (N, M) of N pictures, as sets of regions, with M sentences, as sets of words.

    Args:
        beta: β, the proximal step of IPOT.
        iterations: of IPOT.
        kwargs: those of `keras.layers.Layer`.
    """

    def __init__(self, beta: float, iterations: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        check_solver(beta, iterations)
        self.beta = beta
        self.iterations = iterations
        self.supports_masking = True
        # Blocks of sentences are cut by their lengths, which XLA can't compile. The solver is compiled by itself.
        self.supports_jit = False
        self.built = True

    def compute_mask(self, inputs: Tensor, previous_mask: Tensor | None = None) -> None:
        """Scores need no mask."""
        return

    def compute_output_shape(self, regions_shape: Any, words_shape: Any) -> tuple[int | None, int | None]:
        """The shape (N, M) of the scores."""
        return (regions_shape[0], words_shape[0])

    def compute_output_spec(self, regions: Tensor, words: Tensor, **options: Any) -> Any:
        """Shape and dtype of the scores."""
        return keras.KerasTensor(self.compute_output_shape(regions.shape, words.shape), dtype=self.compute_dtype)


def mask_of(items: Tensor, *masks: Tensor | None) -> Tensor:
    """The first mask that is given, as bool; without any, all of the (N, R, E) items are real."""
    given = next((mask for mask in masks if mask is not None), None)
    return tf.ones(tf.shape(items)[:2], tf.bool) if given is None else tf.cast(given, tf.bool)
