"""The 1/γ regulariser of batch normalisation (2-Way Nets, Eisenschtat and Wolf, CVPR 2017, section 3.4)."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

__all__ = ["InverseGamma"]

Tensor = Any


@keras.saving.register_keras_serializable(package="vse_zoo")
class InverseGamma(keras.regularizers.Regularizer):
    """``strength · Σ 1/γ²``, which keeps the variance of normalised activations from vanishing.

    Where |γ| < ``threshold`` the tangent at the threshold stands in for 1/γ², so that value and gradient are finite
    even at 0 and still push γ outwards.

    Args:
        strength: λ_γ.
        threshold: the |γ| below which the tangent is used.

    Call arguments:
        gamma: any shape.

    Returns:
        A scalar, float32 or, for float64 weights, float64.
    """

    def __init__(self, strength: float = 0.05, threshold: float = 0.1) -> None:
        if strength < 0 or threshold <= 0:
            raise ValueError(f"strength must be ≥ 0 and threshold > 0, got {strength} and {threshold}.")
        self.strength = strength
        self.threshold = threshold

    def __call__(self, gamma: Tensor) -> Tensor:
        """The penalty; shapes in the class's documentation."""
        gamma = ops.convert_to_tensor(gamma)
        gamma = ops.cast(gamma, keras.backend.result_type(gamma.dtype, "float32"))
        # At 0 either way is outwards; ops.abs would have gradient 0 there.
        size = ops.where(gamma < 0, -gamma, gamma)
        outside = ops.maximum(size, self.threshold)
        inside = outside - size
        penalties = 1 / ops.square(outside) + 2 * inside / self.threshold**3
        return self.strength * ops.sum(penalties)

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        return {"strength": self.strength, "threshold": self.threshold}
