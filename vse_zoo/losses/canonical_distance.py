"""Squared distance after linear CCA, which deep CCA minimises but for a constant (Andrew et al., ICML 2013)."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf
from keras import ops

from vse_zoo.losses.base import BatchLoss
from vse_zoo.losses.masks import joint_mask

__all__ = ["CanonicalDistance"]

Tensor = Any


@keras.saving.register_keras_serializable(package="vse_zoo")
class CanonicalDistance(BatchLoss):
    """``2 (D − Σ_k ρ_k)``, ρ the canonical correlations of a batch.

    It is ``min ‖A h − B g‖²``, summed over dimensions and averaged over the batch, over all linear maps A and B that
    give both representations the covariance I: the mid loss L_h of 2-Way Nets freed of what a linear map can do, so
    that neurons that repeat one another can't lower it.

    Args:
        ridge: added to the variances, in shares of a representation's mean variance; without it directions that a small
            batch hardly shows would count as fully correlated.

    Call arguments:
        vectors: (B, D), B above D for a meaningful value.
        other_vectors: (B, D).
        vectors_mask, other_vectors_mask: (B,) bool, True on real rows. By default they are the Keras masks that the
            vectors carry, if any. A row counts where both are real.

    Returns:
        A scalar, float32 or, under a float64 policy, float64.
    """

    def __init__(self, ridge: float = 1e-3, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if ridge <= 0:
            raise ValueError(f"ridge must be positive, got {ridge}.")
        self.ridge = ridge

    def call(
        self,
        vectors: Tensor,
        other_vectors: Tensor,
        vectors_mask: Tensor | None = None,
        other_vectors_mask: Tensor | None = None,
    ) -> Tensor:
        """The loss of a batch; shapes in the class's documentation."""
        real = ops.expand_dims(joint_mask(vectors, vectors_mask, other_vectors_mask), -1)
        h, g = self._whitened(vectors, real), self._whitened(other_vectors, real)
        both = ops.matmul(ops.transpose(h), g)
        # Σ ρ is the trace norm; eigenvalues have safe gradients where singular values coincide.
        squares = tf.linalg.eigvalsh(ops.matmul(ops.transpose(both), both))
        correlations = ops.sqrt(ops.maximum(squares, 1e-9))
        return 2.0 * (ops.cast(both.shape[-1], both.dtype) - ops.sum(correlations))

    def _whitened(self, vectors: Tensor, real: Tensor) -> Tensor:
        """(B, D) rows over √B with covariance I, but for the ridge, by a Cholesky factor: any whitening does."""
        vectors = ops.where(real, ops.cast(vectors, self.compute_dtype), 0.0)
        count = ops.maximum(ops.sum(ops.cast(real, vectors.dtype)), 1.0)
        vectors = ops.where(real, vectors - ops.sum(vectors, axis=0, keepdims=True) / count, 0.0) / ops.sqrt(count)
        covariance = ops.matmul(ops.transpose(vectors), vectors)
        size = covariance.shape[-1]
        ridge = self.ridge * ops.maximum(ops.trace(covariance) / size, 1e-12)
        factor = ops.cholesky(covariance + ridge * ops.eye(size, dtype=vectors.dtype))
        return ops.transpose(ops.solve_triangular(factor, ops.transpose(vectors), lower=True))

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        return {**super().get_config(), "ridge": self.ridge}
