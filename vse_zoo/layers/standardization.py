"""Vectors shifted and scaled by the statistics of training data."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
from keras import ops

__all__ = ["Standardization"]

Tensor = Any


@keras.saving.register_keras_serializable(package="vse_zoo")
class Standardization(keras.layers.Layer):
    """``(x − mean) · scale``; the identity until `adapt` has seen training vectors.

    Call arguments:
        inputs: (B, D) float.

    Returns:
        (B, D).
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True

    def build(self, input_shape: tuple[int | None, ...]) -> None:
        """Creates mean and scale, which are saved with the weights."""
        shape = (input_shape[-1],)
        self.mean = self.add_weight(shape=shape, initializer="zeros", trainable=False, name="mean")
        self.scale = self.add_weight(shape=shape, initializer="ones", trainable=False, name="scale")
        self.built = True

    def adapt(self, vectors: np.ndarray) -> None:
        """Sets mean and scale so that (N, D) vectors have mean 0 and, over all dimensions, a mean variance of 1.

        One scale for all dimensions keeps their proportions.
        """
        vectors = np.asarray(vectors, np.float32)
        self.mean.assign(vectors.mean(axis=0))
        deviation = np.sqrt(vectors.var(axis=0, dtype=np.float64).mean())
        self.scale.assign(np.full(vectors.shape[1], 1 / max(float(deviation), 1e-12), np.float32))

    def call(self, inputs: Tensor) -> Tensor:
        """Shifts and scales; shapes in the class's documentation."""
        return (ops.cast(inputs, self.compute_dtype) - self.mean) * self.scale

    def inverse(self, outputs: Tensor) -> Tensor:
        """(B, D) standardised vectors back to the inputs they came from."""
        return outputs / self.scale + self.mean
