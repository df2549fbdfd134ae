"""Vectors shifted and scaled by the statistics of training data."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
from keras import ops

from vse_zoo.layers.full_precision import FullPrecisionLayer

__all__ = ["Standardization"]

Tensor = Any

_PART = 4096
"""Vectors whose deviations are in memory together."""


@keras.saving.register_keras_serializable(package="vse_zoo")
class Standardization(FullPrecisionLayer):
    """``(x − mean) · scale``, dimension by dimension; the identity until `adapt` has seen training vectors.

    Call arguments:
        inputs: (…, D) float.

    Returns:
        (…, D) float32, or float64 under a float64 policy: half precision would lose what tells vectors with a large
        mean apart.
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
        """Sets mean and scale so that (N, D) training vectors have mean 0 and deviation 1; a constant stays 0."""
        vectors = np.asarray(vectors)
        mean = vectors.mean(axis=0, dtype=np.float64)
        # Part by part, since all deviations in float64 would take more memory than the vectors themselves.
        parts = np.array_split(vectors, len(vectors) // _PART + 1)
        variance = sum(np.square(part - mean).sum(axis=0) for part in parts) / len(vectors)
        self.mean.assign(mean)
        self.scale.assign(1.0 / (np.sqrt(variance) + 1e-3))

    def call(self, inputs: Tensor) -> Tensor:
        """Shifts and scales; shapes in the class's documentation."""
        return (ops.cast(inputs, self.compute_dtype) - self.mean) * self.scale

    def inverse(self, outputs: Tensor) -> Tensor:
        """(…, D) standardised vectors back to the inputs they came from."""
        return ops.cast(outputs, self.compute_dtype) / self.scale + self.mean

    def compute_output_shape(self, input_shape: tuple[int | None, ...]) -> tuple[int | None, ...]:
        """The shape of the inputs."""
        return input_shape
