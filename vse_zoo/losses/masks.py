"""Which rows of a batch a loss counts."""

from __future__ import annotations

from typing import Any

from keras import ops

__all__ = ["joint_mask"]

Tensor = Any


def joint_mask(rows: Tensor, *masks: Tensor | None) -> Tensor:
    """(B,) bool, True where every mask that is given is True; all True without any.

    Args:
        rows: (B, …), the rows of the batch.
        masks: (B,) each, or None.
    """
    joint = ops.ones((ops.shape(rows)[0],), "bool")
    for mask in masks:
        if mask is not None:
            joint = ops.logical_and(joint, ops.cast(mask, "bool"))
    return joint
