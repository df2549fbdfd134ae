"""Masks for layers whose padding is zero."""

from __future__ import annotations

from typing import Any

from keras import ops

__all__ = ["zero_masked"]

Tensor = Any


def zero_masked(items: Tensor, mask: Tensor | None) -> Tensor:
    """The items, zero where the mask is False.

    Args:
        items: (B, T, …), such as word ids or vectors, whose padding is zero.
        mask: (B, T) bool; None leaves the items as they are.

    Returns:
        A tensor of the items' shape and dtype.
    """
    if mask is None:
        return items
    mask = ops.cast(mask, "bool")
    for _ in items.shape[2:]:
        mask = ops.expand_dims(mask, -1)
    return ops.where(mask, items, ops.zeros_like(items))
