"""Margin-based diversity between attention heads (Huang et al., EMNLP 2019, l^D)."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from vse_zoo.layers.normalization import l2_normalize
from vse_zoo.losses.base import BatchLoss
from vse_zoo.losses.pairs import check_reduction

__all__ = ["DiversityLoss"]

Tensor = Any


@keras.saving.register_keras_serializable(package="vse_zoo")
class DiversityLoss(BatchLoss):
    """``Σ_p Σ_{k≠r} [·]₊`` of the cosine s between head k of one view and head r of another view (or the same).

    Args:
        margin: α_D.
        form: "distance" [s − (1 − α_D)]₊, "similarity" [s − α_D]₊, or "as_printed" [α_D − s]₊, which rewards similar
            heads, against the paper's own text.
        reduction: "sum" over the instances, as in the paper, or their "mean".

    Call arguments:
        heads: (B, K, D) the heads of one view.
        other_heads: (B, K, D) those of the other; the same tensor for a term within a view. Each ordered pair (k, r)
            counts once.
        mask: (B,) bool, False where one of the two views is missing.
        heads_mask, other_heads_mask: (B, K) bool, False on heads that don't count. By default they are the Keras masks
            that the heads carry, if any.

    Returns:
        A scalar, float32 or, under a float64 policy, float64; 0 for a single head.
    """

    def __init__(self, margin: float = 0.1, form: str = "distance", reduction: str = "sum", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if form not in ("similarity", "distance", "as_printed"):
            raise ValueError(f"form must be 'similarity', 'distance' or 'as_printed', got {form!r}.")
        self.margin = margin
        self.form = form
        self.reduction = check_reduction(reduction)

    def call(
        self,
        heads: Tensor,
        other_heads: Tensor,
        mask: Tensor | None = None,
        heads_mask: Tensor | None = None,
        other_heads_mask: Tensor | None = None,
    ) -> Tensor:
        """The loss of a batch; shapes in the class's documentation."""
        units = [l2_normalize(ops.cast(view, self.compute_dtype)) for view in (heads, other_heads)]
        similarity = ops.einsum("bkd,brd->bkr", *units)
        counted = ops.logical_not(ops.eye(ops.shape(similarity)[-1], dtype="bool"))
        if heads_mask is not None:
            counted = ops.logical_and(counted, ops.expand_dims(ops.cast(heads_mask, "bool"), 2))
        if other_heads_mask is not None:
            counted = ops.logical_and(counted, ops.expand_dims(ops.cast(other_heads_mask, "bool"), 1))
        per_instance = ops.sum(ops.where(counted, self._hinge(similarity), 0.0), axis=(1, 2))
        weights = ops.ones_like(per_instance) if mask is None else ops.cast(mask, per_instance.dtype)
        total = ops.sum(weights * per_instance)
        return total if self.reduction == "sum" else total / ops.maximum(ops.sum(weights), 1.0)

    def _hinge(self, similarity: Tensor) -> Tensor:
        if self.form == "similarity":
            return ops.relu(similarity - self.margin)
        if self.form == "distance":
            return ops.relu(similarity - (1.0 - self.margin))
        return ops.relu(self.margin - similarity)

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        names = ("margin", "form", "reduction")
        return {**super().get_config(), **{name: getattr(self, name) for name in names}}
