"""The [ranking] section: which ranking loss."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from vse_zoo.losses import ContrastiveLoss, TripletLoss
from vse_zoo.training.configs.base import Section

__all__ = ["RankingConfig"]


class RankingConfig(Section):
    """The ranking loss: triplet (margin, negatives, warmup_steps) or contrastive (temperature, learnable)."""

    kind: Literal["triplet", "contrastive"] = "triplet"
    margin: float = Field(0.2, gt=0)
    negatives: Literal["hardest", "sum"] = "hardest"
    warmup_steps: int = Field(0, ge=0)
    temperature: float = Field(0.05, gt=0)
    learnable: bool = False
    reduction: Literal["sum", "mean"] | None = None

    def loss(self) -> TripletLoss | ContrastiveLoss:
        """The loss that the section describes; by default a triplet loss sums and a contrastive one averages."""
        if self.kind == "triplet":
            return TripletLoss(self.margin, self.negatives, self.warmup_steps, self.reduction or "sum")
        return ContrastiveLoss(self.temperature, self.learnable, self.reduction or "mean")
