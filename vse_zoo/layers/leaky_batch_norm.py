"""Leaky ReLU followed by batch normalisation (2-Way Nets, Eisenschtat and Wolf, CVPR 2017, sections 3.2 to 3.4)."""

from __future__ import annotations

from typing import Any, Literal

import keras
from keras import ops

__all__ = ["LeakyBatchNorm"]

Tensor = Any
Place = Literal["after", "before", "none"]


@keras.saving.register_keras_serializable(package="vse_zoo")
class LeakyBatchNorm(keras.layers.Layer):
    """``a = max(x, slope·x)``, then ``γ (a − μ)/σ + β``, with statistics, γ and β of its own for either direction.

    Args:
        place: where the normalisation stands: "after" the activation, as in the paper, "before" it, or "none".
        negative_slope: of the leaky ReLU; 0 is a ReLU.
        gamma_regularizer: of both directions' γ, such as `vse_zoo.regularizers.InverseGamma`.
        momentum: of the running statistics.
        epsilon: added to the variance.
        synchronized: statistics over the batches of all replicas.

    Call arguments:
        inputs: (B, units).
        reverse: use the statistics and weights of the reverse direction.
        training: normalise by the batch's statistics.

    Returns:
        (B, units).
    """

    def __init__(
        self,
        place: Place = "after",
        negative_slope: float = 0.3,
        gamma_regularizer: Any = None,
        momentum: float = 0.99,
        epsilon: float = 1e-3,
        synchronized: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if place not in ("after", "before", "none"):
            raise ValueError(f"place must be 'after', 'before' or 'none', got {place!r}.")
        self.supports_masking = True
        self.place = place
        self.negative_slope = negative_slope
        self.gamma_regularizer = keras.regularizers.get(gamma_regularizer)
        self.momentum = momentum
        self.epsilon = epsilon
        self.synchronized = synchronized
        self.norms = () if place == "none" else (self._norm("forward_norm"), self._norm("reverse_norm"))

    def _norm(self, name: str) -> keras.layers.BatchNormalization:
        return keras.layers.BatchNormalization(
            momentum=self.momentum,
            epsilon=self.epsilon,
            gamma_initializer=keras.initializers.RandomUniform(0.95, 1.05),
            gamma_regularizer=self.gamma_regularizer,
            synchronized=self.synchronized,
            dtype=self.dtype_policy,
            name=name,
        )

    def build(self, input_shape: tuple[int | None, ...]) -> None:
        """Creates the weights of both directions."""
        for norm in self.norms:
            norm.build(input_shape)
        self.built = True

    def call(self, inputs: Tensor, reverse: bool = False, training: bool = False) -> Tensor:
        """One direction; shapes in the class's documentation."""
        if self.place == "none":
            return self._activation(inputs)
        norm = self.norms[1 if reverse else 0]
        if self.place == "before":
            return self._activation(norm(inputs, training=training))
        return norm(self._activation(inputs), training=training)

    def _activation(self, inputs: Tensor) -> Tensor:
        return ops.leaky_relu(inputs, negative_slope=self.negative_slope)

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        names = ("place", "negative_slope", "momentum", "epsilon", "synchronized")
        return {
            **super().get_config(),
            **{name: getattr(self, name) for name in names},
            "gamma_regularizer": keras.regularizers.serialize(self.gamma_regularizer),
        }
