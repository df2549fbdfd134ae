"""One dropout mask for two mirrored activations (2-Way Nets, Eisenschtat and Wolf, CVPR 2017, section 3.5)."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

__all__ = ["TiedDropout"]

Tensor = Any


@keras.saving.register_keras_serializable(package="vse_zoo")
class TiedDropout(keras.layers.Layer):
    """Drops the same neurons of a pair of activations, and divides those kept by √(1−p), which keeps their variance.

    Args:
        rate: p, the probability that a neuron is dropped.
        seed: of the masks.

    Call arguments:
        activations: (B, units) of one direction.
        mirrored: (B, units) of the other.
        training: drop; otherwise both pass unchanged.

    Returns:
        The two, under one mask.
    """

    def __init__(self, rate: float = 0.5, seed: int | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if not 0 <= rate < 1:
            raise ValueError(f"rate must be at least 0 and below 1, got {rate}.")
        self.supports_masking = True
        self.rate = rate
        self.seed = seed
        self.seed_generator = keras.random.SeedGenerator(seed)
        self.built = True

    def draw(self, batch: int | Tensor, units: int) -> Tensor:
        """A mask (batch, units) of 0 and 1/√(1−p), for mirrored activations that exist at different times."""
        kept = keras.random.uniform((batch, units), seed=self.seed_generator) >= self.rate
        return ops.cast(kept, self.compute_dtype) * (1 - self.rate) ** -0.5

    def call(self, activations: Tensor, mirrored: Tensor, training: bool = False) -> tuple[Tensor, Tensor]:
        """Drops from both; shapes in the class's documentation."""
        if not training or self.rate == 0:
            return activations, mirrored
        mask = self.draw(ops.shape(activations)[0], activations.shape[-1])
        return activations * mask, mirrored * mask

    def compute_mask(self, inputs: Tensor, previous_mask: Tensor | None = None) -> tuple[Any, Any]:
        """A pair of rows counts as padding where its first row does."""
        return previous_mask, previous_mask

    def compute_output_shape(self, activations_shape: Any, mirrored_shape: Any) -> tuple[Any, Any]:
        """The shapes of the two inputs."""
        return activations_shape, mirrored_shape

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        return {**super().get_config(), "rate": self.rate, "seed": self.seed}
