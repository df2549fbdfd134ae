"""Vectors projected on the principal components of training data, and scaled."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
from keras import ops
from scipy.linalg import eigh

from vse_zoo.layers.full_precision import FullPrecisionLayer

__all__ = ["Whitening"]

Tensor = Any


@keras.saving.register_keras_serializable(package="vse_zoo")
class Whitening(FullPrecisionLayer):
    """The first P principal components, each divided by ``√(variance + ridge · total variance)``.

    Once `adapt` has seen training vectors; before it, the first P dimensions. A small ridge makes all components alike,
    a large one keeps their proportions.

    Args:
        components: P.
        ridge: in shares of the total variance.

    Call arguments:
        inputs: (…, D) float, D ≥ P.

    Returns:
        (…, P) float32, or float64 under a float64 policy, as of `Standardization`.
    """

    def __init__(self, components: int, ridge: float = 1e-3, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if components < 1 or ridge < 0:
            raise ValueError(f"components must be at least 1 and ridge not negative, got {components} and {ridge}.")
        self.supports_masking = True
        self.components = components
        self.ridge = ridge

    def build(self, input_shape: tuple[int | None, ...]) -> None:
        """Creates mean, projection (D, P) and scale, which are saved with the weights."""
        dim = int(input_shape[-1] or 0)
        if dim < self.components:
            raise ValueError(f"components must be at most the inputs' size, got {self.components} and {dim}.")
        fixed: dict[str, Any] = {"trainable": False}
        self.mean = self.add_weight(shape=(dim,), initializer="zeros", name="mean", **fixed)
        identity = keras.initializers.Identity()
        self.kernel = self.add_weight(shape=(dim, self.components), initializer=identity, name="kernel", **fixed)
        self.scale = self.add_weight(shape=(self.components,), initializer="ones", name="scale", **fixed)
        self.built = True

    def adapt(self, vectors: np.ndarray) -> None:
        """Sets the components of (N, D) training vectors; the outputs have a mean variance of 1."""
        vectors = np.asarray(vectors, np.float32)
        mean = vectors.mean(axis=0, dtype=np.float64).astype(np.float32)
        centred = vectors - mean
        covariance = (centred.T @ centred).astype(np.float64) / len(vectors)
        size = len(covariance)
        total = float(np.trace(covariance))
        first = max(0, size - self.components)
        variances, directions = eigh(covariance, subset_by_index=[first, size - 1], overwrite_a=True)
        variances = np.maximum(variances[::-1], 0.0)
        damped = variances + self.ridge * total
        norm = np.sqrt(np.mean(variances / np.maximum(damped, 1e-30)))
        self.mean.assign(mean)
        self.kernel.assign(directions[:, ::-1])
        self.scale.assign(1.0 / np.maximum(np.sqrt(damped) * norm, 1e-12))

    def call(self, inputs: Tensor) -> Tensor:
        """Projects and scales; shapes in the class's documentation."""
        return ops.matmul(ops.cast(inputs, self.compute_dtype) - self.mean, self.kernel) * self.scale

    def inverse(self, outputs: Tensor) -> Tensor:
        """(…, P) components to the nearest (…, D) inputs that have them."""
        components = ops.cast(outputs, self.compute_dtype) / self.scale
        return ops.matmul(components, ops.transpose(self.kernel)) + self.mean

    def compute_output_shape(self, input_shape: tuple[int | None, ...]) -> tuple[int | None, ...]:
        """The shape of the components."""
        return (*input_shape[:-1], self.components)
