"""Hinge-based triplet ranking loss with hard negatives (VSE++; Huang et al. 2019, l(V, E))."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from vse_zoo.losses.base import BatchLoss
from vse_zoo.losses.masks import joint_mask
from vse_zoo.losses.pairs import Pairs, check_reduction

__all__ = ["TripletLoss"]

Tensor = Any


@keras.saving.register_keras_serializable(package="vse_zoo")
class TripletLoss(BatchLoss):
    """``Σ_p [α − s_pp + s_pq]₊ + Σ_q [α − s_qq + s_pq]₊`` over the negatives of each row and each column.

    With ``negatives="hardest"`` only the highest-scoring negative of a row (column) counts; with ``"sum"`` all do.
    Hardest negatives from the first step can leave the loss stuck at 2·batch·margin, so ``warmup_steps`` blends
    linearly from the second form to the first.

    Args:
        margin: α.
        negatives: "hardest" or "sum".
        warmup_steps: optimiser steps over which "hardest" replaces "sum"; 0 starts with "hardest".
        reduction: "sum" over the matches, as in the paper, or their "mean".

    Call arguments:
        scores: (B, B), entry (p, q) the similarity of row item p and column item q; matches on the diagonal.
        ids: (B,) image ids; pairs of equal id are not negatives.
        row_mask, column_mask: (B,) bool, False where an item is missing.
        scores_mask: (B,) bool, False on further missing rows. By default it is the Keras mask that ``scores`` carry, if
            any.
        step: number of optimiser steps taken; needed for the warm-up only.

    Returns:
        A scalar, float32 or, under a float64 policy, float64.
    """

    def __init__(
        self,
        margin: float = 0.2,
        negatives: str = "hardest",
        warmup_steps: int = 0,
        reduction: str = "sum",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if negatives not in ("hardest", "sum"):
            raise ValueError(f"negatives must be 'hardest' or 'sum', got {negatives!r}.")
        self.margin = margin
        self.negatives = negatives
        self.warmup_steps = warmup_steps
        self.reduction = check_reduction(reduction)

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
        scores = ops.cast(scores, self.compute_dtype)
        pairs = Pairs(ids, joint_mask(ids, row_mask, scores_mask), column_mask)
        matched = ops.diagonal(scores)
        row_violations = self._violations(scores - matched[:, None], pairs)
        column_violations = self._violations(scores - matched[None, :], pairs)
        per_match = self._aggregate(row_violations, 1, step) + self._aggregate(column_violations, 0, step)
        return pairs.reduce(per_match, self.reduction)

    def _violations(self, gaps: Tensor, pairs: Pairs) -> Tensor:
        return ops.where(pairs.negatives, ops.relu(self.margin + gaps), 0.0)

    def _aggregate(self, violations: Tensor, axis: int, step: Tensor | None) -> Tensor:
        if self.negatives == "sum":
            return ops.sum(violations, axis=axis)
        hardest = ops.max(violations, axis=axis)
        if self.warmup_steps == 0 or step is None:
            return hardest
        share = ops.minimum(ops.cast(step, self.compute_dtype) / self.warmup_steps, 1.0)
        return share * hardest + (1.0 - share) * ops.sum(violations, axis=axis)

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        names = ("margin", "negatives", "warmup_steps", "reduction")
        return {**super().get_config(), **{name: getattr(self, name) for name in names}}
