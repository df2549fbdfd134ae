"""Squared Euclidean distance: the losses L_x, L_y and L_h (2-Way Nets, Eisenschtat and Wolf, CVPR 2017, section 3)."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from vse_zoo.losses.base import BatchLoss

__all__ = ["SquaredDistance"]

Tensor = Any


@keras.saving.register_keras_serializable(package="vse_zoo")
class SquaredDistance(BatchLoss):
    """``‖a − b‖²``, summed over the dimensions, mean over the batch.

    The reconstruction losses L_x = ‖x − x̃‖² and L_y = ‖y − ỹ‖², and between the two mid representations L_h.

    Call arguments:
        vectors: (B, D).
        other_vectors: (B, D).

    Returns:
        A float32 scalar.
    """

    def call(self, vectors: Tensor, other_vectors: Tensor) -> Tensor:
        """The loss of a batch; shapes in the class's documentation."""
        return ops.mean(self.rows(vectors, other_vectors))

    def rows(self, vectors: Tensor, other_vectors: Tensor) -> Tensor:
        """(B,) ``‖a − b‖²`` of each row, whose mean is the loss."""
        difference = ops.cast(vectors, "float32") - ops.cast(other_vectors, "float32")
        return ops.sum(ops.square(difference), axis=-1)
