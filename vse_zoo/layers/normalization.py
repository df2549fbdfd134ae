"""Unit-length vectors whose gradient is finite at zero."""

from __future__ import annotations

from typing import Any

from keras import ops

__all__ = ["l2_normalize"]

Tensor = Any


def l2_normalize(vectors: Tensor, epsilon: float = 1e-12) -> Tensor:
    """``x / sqrt(max(Σx², ε))`` over the last axis, in float32 whatever comes in.

    Args:
        vectors: (…, D), any float type.
        epsilon: squared length below which a vector counts as zero.

    Returns:
        (…, D) float32; a zero vector stays zero and its gradient is finite.
    """
    vectors = ops.cast(vectors, "float32")
    return vectors * ops.rsqrt(ops.maximum(ops.sum(ops.square(vectors), axis=-1, keepdims=True), epsilon))
