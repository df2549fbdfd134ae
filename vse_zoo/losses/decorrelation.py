"""Decorrelation of a representation's neurons (2-Way Nets, CVPR 2017; DeCov: Cogswell et al., ICLR 2016)."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from vse_zoo.losses.base import BatchLoss

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

    Returns:
        A float32 scalar.
    """

    def __init__(self, form: str = "squared", centered: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if form not in ("squared", "norm"):
            raise ValueError(f"form must be 'squared' or 'norm', got {form!r}.")
        self.form = form
        self.centered = centered

    def call(self, vectors: Tensor) -> Tensor:
        """The loss of a batch; shapes in the class's documentation."""
        vectors = ops.cast(vectors, "float32")
        if self.centered:
            vectors = vectors - ops.mean(vectors, axis=0, keepdims=True)
        count = ops.cast(ops.shape(vectors)[0], "float32")
        covariance = ops.matmul(ops.transpose(vectors), vectors) / count
        diagonal = ops.sum(ops.square(ops.diagonal(covariance)))
        # Summed without the diagonal, since the difference of the two sums would lose digits where little is left.
        rest = ops.sum(ops.square(covariance * (1 - ops.eye(covariance.shape[-1]))))
        if self.form == "squared":
            return 0.5 * rest
        return rest / (_safe_sqrt(diagonal + rest) + _safe_sqrt(diagonal))

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        return {**super().get_config(), "form": self.form, "centered": self.centered}


def _safe_sqrt(value: Tensor) -> Tensor:
    """√, with gradient 0 at 0."""
    return ops.sqrt(ops.maximum(value, 1e-24))
