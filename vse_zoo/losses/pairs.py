"""Which pairs of a batch are matches, negatives or neither: shared by every loss over a score matrix."""

from __future__ import annotations

from typing import Any

from keras import ops

from vse_zoo.losses.masks import joint_mask

__all__ = ["Pairs", "check_reduction"]

Tensor = Any


class Pairs:
    """Matches and negatives of a square score matrix whose diagonal holds the matches.

    Two captions of one image are not each other's negatives, and an item that is missing is nobody's.

    Args:
        ids: (B,) image ids of rows and columns alike.
        row_mask: (B,) bool, True where the row's item exists; all exist by default.
        column_mask: (B,) bool, the same for columns.
    """

    def __init__(self, ids: Tensor, row_mask: Tensor | None = None, column_mask: Tensor | None = None) -> None:
        rows, columns = joint_mask(ids, row_mask), joint_mask(ids, column_mask)
        exist = ops.logical_and(rows[:, None], columns[None, :])
        self.matches = ops.logical_and(rows, columns)
        """(B,) bool: rows whose match exists."""
        self.negatives = ops.logical_and(exist, ids[:, None] != ids[None, :])
        """(B, B) bool: pairs of different images whose two items exist."""

    def reduce(self, per_match: Tensor, reduction: str) -> Tensor:
        """Sum, or mean over the matches, of a (B,) loss; 0 for a batch without matches."""
        total = ops.sum(ops.where(self.matches, per_match, 0.0))
        if reduction == "sum":
            return total
        return total / ops.maximum(ops.sum(ops.cast(self.matches, total.dtype)), 1.0)


def check_reduction(reduction: str) -> str:
    """``reduction`` itself, if it is "sum" or "mean"."""
    if reduction not in ("sum", "mean"):
        raise ValueError(f"reduction must be 'sum' or 'mean', got {reduction!r}.")
    return reduction
