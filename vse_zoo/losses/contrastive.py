"""Contrastive loss over a batch (InfoNCE, van den Oord et al. 2018; both ways as in CLIP, Radford et al. 2021)."""

from __future__ import annotations

import math
from typing import Any

import keras
from keras import ops

from vse_zoo.losses.base import BatchLoss
from vse_zoo.losses.masks import joint_mask
from vse_zoo.losses.pairs import Pairs, check_reduction

__all__ = ["ContrastiveLoss"]

Tensor = Any


@keras.saving.register_keras_serializable(package="vse_zoo")
class ContrastiveLoss(BatchLoss):
    """``½ Σ_p −log softmax_q(s_pq/τ)_p`` over rows and the same over columns; other captions of an image are left out.

    Args:
        temperature: τ, or its initial value.
        learnable: train ln τ as a weight; τ is kept at or above 0.01.
        reduction: "mean" over the matches, or their "sum".

    Call arguments:
        scores: (B, B), entry (p, q) the similarity of row item p and column item q; matches on the diagonal.
        ids: (B,) image ids; pairs of equal id are neither matches nor negatives.
        row_mask, column_mask: (B,) bool, False where an item is missing.
        scores_mask: (B,) bool, False on further missing rows. By default it is the Keras mask that ``scores`` carry, if
            any.
        step: accepted as by every ranking loss, and not used.

    Returns:
        A scalar, float32 or, under a float64 policy, float64.
    """

    def __init__(
        self, temperature: float = 0.05, learnable: bool = False, reduction: str = "mean", **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        if temperature <= 0:
            raise ValueError(f"temperature must be positive, got {temperature}.")
        self.temperature = temperature
        self.learnable = learnable
        self.reduction = check_reduction(reduction)
        self.log_temperature = self.add_weight(
            shape=(),
            initializer=keras.initializers.Constant(math.log(temperature)),
            trainable=learnable,
            name="log_temperature",
        )

    def call(
        self,
        scores: Tensor,
        ids: Tensor,
        row_mask: Tensor | None = None,
        column_mask: Tensor | None = None,
        step: Tensor | None = None,
        scores_mask: Tensor | None = None,
    ) -> Tensor:
        """The loss of a batch; shapes in the class's documentation."""
        pairs = Pairs(ids, joint_mask(ids, row_mask, scores_mask), column_mask)
        temperature = ops.maximum(ops.exp(self.log_temperature), 0.01)
        logits = ops.cast(scores, self.compute_dtype) / temperature
        candidates = ops.logical_or(pairs.negatives, ops.eye(ops.shape(logits)[0], dtype="bool"))
        logits = ops.where(candidates, logits, -1e30)
        normalizers = ops.logsumexp(logits, axis=1) + ops.logsumexp(logits, axis=0)
        return pairs.reduce(0.5 * normalizers - ops.diagonal(logits), self.reduction)

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        names = ("temperature", "learnable", "reduction")
        return {**super().get_config(), **{name: getattr(self, name) for name in names}}
