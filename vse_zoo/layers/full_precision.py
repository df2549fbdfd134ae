"""Layers that compute in float32 where the others of a model compute in half precision."""

from __future__ import annotations

from typing import Any

import keras

__all__ = ["FullPrecisionLayer", "full_precision"]


def full_precision(dtype: Any = None) -> Any:
    """The dtype policy of a layer that must not round to half precision.

    Args:
        dtype: a dtype, its name or a policy; None stands for Keras' global policy.

    Returns:
        A `keras.DTypePolicy`: "float64" for a policy that computes in float64, otherwise "float32".
    """
    compute_dtype = keras.dtype_policies.get(dtype).compute_dtype
    return keras.DTypePolicy(keras.backend.result_type(compute_dtype, "float32"))


class FullPrecisionLayer(keras.layers.Layer):
    """A layer whose inputs, weights and outputs are float32 under every policy of half precision.

    Keras' own ``autocast=False`` of a layer is not enough: outside of any other layer's call Keras opens a scope of
    the layer's own half precision, and in that scope it rounds each weight that isn't excepted by itself.

    Args:
        dtype: as in `keras.layers.Layer`. The layer's policy is `full_precision` of it.
        kwargs: those of `keras.layers.Layer`.
    """

    def __init__(self, *, dtype: Any = None, **kwargs: Any) -> None:
        super().__init__(dtype=full_precision(dtype), **kwargs)

    def add_weight(self, *args: Any, **kwargs: Any) -> Any:
        """As in `keras.layers.Layer`; the weight is never rounded, whoever reads it."""
        return super().add_weight(*args, **{**kwargs, "autocast": False})
