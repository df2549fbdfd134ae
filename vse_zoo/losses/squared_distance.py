"""Squared Euclidean distance: the losses L_x, L_y and L_h (2-Way Nets, Eisenschtat and Wolf, CVPR 2017, section 3)."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from vse_zoo.losses.base import BatchLoss
from vse_zoo.losses.masks import joint_mask

__all__ = ["SquaredDistance"]

Tensor = Any


@keras.saving.register_keras_serializable(package="vse_zoo")
class SquaredDistance(BatchLoss):
    """``‖a − b‖²``, summed over the dimensions, mean over the batch.

    The reconstruction losses L_x = ‖x − x̃‖² and L_y = ‖y − ỹ‖², and between the two mid representations L_h.

    Call arguments:
        vectors: (B, D).
        other_vectors: (B, D).
        vectors_mask, other_vectors_mask: (B,) bool, True on real rows. By default they are the Keras masks that the
            vectors carry, if any. A row counts where both are real.

    Returns:
        A scalar, float32 or, under a float64 policy, float64.
    """

    def call(
        self,
        vectors: Tensor,
        other_vectors: Tensor,
        vectors_mask: Tensor | None = None,
        other_vectors_mask: Tensor | None = None,
    ) -> Tensor:
        """The loss of a batch; shapes in the class's documentation."""
        rows = self.rows(vectors, other_vectors)
        if vectors_mask is None and other_vectors_mask is None:
            return ops.mean(rows)
        real = joint_mask(rows, vectors_mask, other_vectors_mask)
        return ops.sum(ops.where(real, rows, 0.0)) / ops.maximum(ops.sum(ops.cast(real, rows.dtype)), 1.0)

    def rows(self, vectors: Tensor, other_vectors: Tensor) -> Tensor:
        """(B,) ``‖a − b‖²`` of each row, whose mean is the loss."""
        difference = ops.cast(vectors, self.compute_dtype) - ops.cast(other_vectors, self.compute_dtype)
        return ops.sum(ops.square(difference), axis=-1)
