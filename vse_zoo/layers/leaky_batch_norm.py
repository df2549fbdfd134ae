"""Leaky ReLU followed by batch normalisation (2-Way Nets, Eisenschtat and Wolf, CVPR 2017, sections 3.2 to 3.4)."""

from __future__ import annotations

from typing import Any, Literal

import keras
from keras import ops

from vse_zoo.ops.replicas import replica_count, sum_over_replicas

__all__ = ["LeakyBatchNorm"]

Tensor = Any
Place = Literal["after", "before", "none"]


class BatchNormalization(keras.layers.BatchNormalization):
    """Keras' layer, by the moments of the global batch of all replicas; weight files know it by its class's name.

    Keras' own ``synchronized`` takes the variance as E[x²] − E[x]², which loses digits and differs from one device.
    """

    def _moments(self, inputs: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
        if replica_count() == 1:
            return super()._moments(inputs, mask)
        real = ops.ones_like(inputs[..., :1], "bool") if mask is None else ops.expand_dims(ops.cast(mask, "bool"), -1)
        axes = tuple(self._reduction_axes)
        counts = ops.sum(ops.cast(real, inputs.dtype), axis=axes)
        count, total = sum_over_replicas([counts, ops.sum(ops.where(real, inputs, 0.0), axis=axes)])
        count = ops.maximum(count, 1.0)
        mean = total / count
        deviations = ops.where(real, ops.square(inputs - mean), 0.0)
        return mean, sum_over_replicas(ops.sum(deviations, axis=axes)) / count


@keras.saving.register_keras_serializable(package="vse_zoo")
class LeakyBatchNorm(keras.layers.Layer):
    """``a = max(x, slope·x)``, then ``γ (a − μ)/σ + β``, with statistics, γ and β of its own for either direction.

    Args:
        place: where the normalisation stands: "after" the activation, as in the paper, "before" it, or "none".
        negative_slope: of the leaky ReLU; 0 is a ReLU.
        gamma_regularizer: of both directions' γ, such as `vse_zoo.regularizers.InverseGamma`.
        momentum: of the running statistics.
        epsilon: added to the variance.
        synchronized: statistics over the batches of all replicas, as of one device.

    Call arguments:
        inputs: (…, units).
        reverse: use the statistics and weights of the reverse direction.
        training: normalise by the batch's statistics.
        mask: (…) bool, True on real vectors; the statistics are those of the real vectors alone. All are real by
            default.

    Returns:
        (…, units).
    """

    def __init__(
        self,
        place: Place = "after",
        negative_slope: float = 0.3,
        gamma_regularizer: Any = None,
        momentum: float = 0.99,
        epsilon: float = 1e-3,
        synchronized: bool = True,
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
        kind = BatchNormalization if self.synchronized else keras.layers.BatchNormalization
        return kind(
            momentum=self.momentum,
            epsilon=self.epsilon,
            gamma_initializer=keras.initializers.RandomUniform(0.95, 1.05),
            gamma_regularizer=self.gamma_regularizer,
            dtype=self.dtype_policy,
            name=name,
        )

    def build(self, input_shape: tuple[int | None, ...]) -> None:
        """Creates the weights of both directions."""
        for norm in self.norms:
            norm.build(input_shape)
        self.built = True

    def call(self, inputs: Tensor, reverse: bool = False, training: bool = False, mask: Tensor | None = None) -> Tensor:
        """One direction; shapes in the class's documentation."""
        if self.place == "none":
            return self._activation(inputs)
        norm = self.norms[1 if reverse else 0]
        if self.place == "before":
            return self._activation(norm(inputs, training=training, mask=mask))
        return norm(self._activation(inputs), training=training, mask=mask)

    def compute_output_shape(self, input_shape: tuple[int | None, ...]) -> tuple[int | None, ...]:
        """The shape of the inputs."""
        return input_shape

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
