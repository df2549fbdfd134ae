"""Unit-length vectors whose gradient is finite at zero."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

__all__ = ["l2_normalize"]

Tensor = Any


def l2_normalize(vectors: Tensor, epsilon: float = 1e-12) -> Tensor:
    """``x / sqrt(max(Σx², ε))`` over the last axis, in float32 also where half precision comes in.

    Args:
        vectors: (…, D), any float type.
        epsilon: squared length below which a vector counts as zero.

    Returns:
        (…, D) float32, or float64 of float64; a zero vector stays zero and its gradient is finite.
    """
    vectors = ops.convert_to_tensor(vectors)
    vectors = ops.cast(vectors, keras.backend.result_type(vectors.dtype, "float32"))
    return vectors * ops.rsqrt(ops.maximum(ops.sum(ops.square(vectors), axis=-1, keepdims=True), epsilon))
