"""Decorrelation of a representation's neurons (2-Way Nets, CVPR 2017; DeCov: Cogswell et al., ICLR 2016)."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from vse_zoo.losses.base import BatchLoss
from vse_zoo.losses.masks import joint_mask

__all__ = ["Decorrelation"]

Tensor = Any


@keras.saving.register_keras_serializable(package="vse_zoo")
class Decorrelation(BatchLoss):
    """Size of the off-diagonal entries of ``C = HᵀH / N``.

    Args:
        form: "squared": ``½ (‖C‖²_F − ‖diag C‖²)``, DeCov's form; "norm": ``‖C‖_F − ‖diag C‖``, as the authors of 2-Way
            Nets released it.
        centered: take the batch's mean from H first, as DeCov does; the paper doesn't.

    Call arguments:
        vectors: H (N, D), a batch of representations.
        mask: (N,) bool, True on real rows. By default it is the Keras mask that the vectors carry, and without one all
            rows are real.

    Returns:
        A scalar, float32 or, under a float64 policy, float64.
    """

    def __init__(self, form: str = "squared", centered: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if form not in ("squared", "norm"):
            raise ValueError(f"form must be 'squared' or 'norm', got {form!r}.")
        self.form = form
        self.centered = centered

    def call(self, vectors: Tensor, mask: Tensor | None = None) -> Tensor:
        """The loss of a batch; shapes in the class's documentation."""
        real = ops.expand_dims(joint_mask(vectors, mask), -1)
        vectors = ops.where(real, ops.cast(vectors, self.compute_dtype), 0.0)
        count = ops.maximum(ops.sum(ops.cast(real, vectors.dtype)), 1.0)
        if self.centered:
            vectors = ops.where(real, vectors - ops.sum(vectors, axis=0, keepdims=True) / count, 0.0)
        covariance = ops.matmul(ops.transpose(vectors), vectors) / count
        diagonal = ops.sum(ops.square(ops.diagonal(covariance)))
        # Summed without the diagonal, since the difference of the two sums would lose digits where little is left.
        rest = ops.sum(ops.square(covariance * (1 - ops.eye(covariance.shape[-1], dtype=vectors.dtype))))
        if self.form == "squared":
            return 0.5 * rest
        return rest / (_safe_sqrt(diagonal + rest) + _safe_sqrt(diagonal))

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        return {**super().get_config(), "form": self.form, "centered": self.centered}


def _safe_sqrt(value: Tensor) -> Tensor:
    """√, with gradient 0 at 0."""
    return ops.sqrt(ops.maximum(value, 1e-24))
