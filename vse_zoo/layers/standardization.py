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
    """``(x − mean) · scale``, dimension by dimension; the identity until `adapt` has seen training vectors.

    Call arguments:
        inputs: (B, D) float.

    Returns:
        (B, D) float32: half precision would lose what tells vectors with a large mean apart.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(autocast=False, **kwargs)
        self.supports_masking = True

    def build(self, input_shape: tuple[int | None, ...]) -> None:
        """Creates mean and scale, which are saved with the weights."""
        shape = (input_shape[-1],)
        self.mean = self.add_weight(shape=shape, initializer="zeros", trainable=False, name="mean")
        self.scale = self.add_weight(shape=shape, initializer="ones", trainable=False, name="scale")
        self.built = True

    def adapt(self, vectors: np.ndarray) -> None:
        """Sets mean and scale so that (N, D) training vectors have mean 0 and deviation 1; a constant stays 0."""
        vectors = np.asarray(vectors, np.float32)
        self.mean.assign(vectors.mean(axis=0))
        self.scale.assign(1.0 / (vectors.std(axis=0, dtype=np.float64) + 1e-3))

    def call(self, inputs: Tensor) -> Tensor:
        """Shifts and scales; shapes in the class's documentation."""
        return (ops.cast(inputs, "float32") - self.mean) * self.scale

    def inverse(self, outputs: Tensor) -> Tensor:
        """(B, D) standardised vectors back to the inputs they came from."""
        return ops.cast(outputs, "float32") / self.scale + self.mean
