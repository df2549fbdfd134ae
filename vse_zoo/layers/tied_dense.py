"""Dense layers that run both ways with one kernel (2-Way Nets, Eisenschtat and Wolf, CVPR 2017, section 3)."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from vse_zoo.layers.reversible import ReversibleLayer

__all__ = ["TiedDense"]

Tensor = Any


@keras.saving.register_keras_serializable(package="vse_zoo")
class TiedDense(ReversibleLayer):
    """``W x + b₂`` forwards and ``Wᵀ y + b₁`` in reverse: one kernel, two biases.

    Args:
        units: size of the forward output.
        tied: False gives the reverse direction a kernel of its own.
        kernel_initializer: of the kernels.
        kernel_regularizer: of the kernels; the tied one counts once, the biases are left alone.

    Call arguments:
        inputs: (…, input size); with ``reverse``, (…, units).
        reverse: run backwards. The layer must be built, or have been called forwards.

    Returns:
        (…, units); with ``reverse``, (…, input size).

    Raises:
        ValueError: the first call of a layer that isn't built is in reverse.
    """

    def __init__(
        self,
        units: int,
        tied: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        kernel_regularizer: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        self.units = units
        self.tied = tied
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.kernel_regularizer = keras.regularizers.get(kernel_regularizer)

    def build(self, input_shape: tuple[Any, ...]) -> None:
        """Creates kernel and biases for a forward input of that shape."""
        self.input_dim = int(input_shape[-1])
        self.kernel = self._add_kernel("kernel")
        self.reverse_kernel = self.kernel if self.tied else self._add_kernel("reverse_kernel")
        self.bias = self.add_weight(shape=(self.units,), initializer="zeros", name="bias")
        self.reverse_bias = self.add_weight(shape=(self.input_dim,), initializer="zeros", name="reverse_bias")
        self.built = True

    def _add_kernel(self, name: str) -> Any:
        return self.add_weight(
            shape=(self.input_dim, self.units),
            # An initialiser gives the same values whenever it is called; its copy draws others.
            initializer=self.kernel_initializer.clone(),
            regularizer=self.kernel_regularizer,
            name=name,
        )

    def call(self, inputs: Tensor, reverse: bool = False) -> Tensor:
        """One direction; shapes in the class's documentation."""
        if reverse:
            return self._reverse(inputs) + self.reverse_bias
        return self._forward(inputs) + self.bias

    def _forward(self, inputs: Tensor) -> Tensor:
        return ops.matmul(inputs, self.kernel)

    def _reverse(self, inputs: Tensor) -> Tensor:
        return ops.matmul(inputs, ops.transpose(self.reverse_kernel))

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        return {
            **super().get_config(),
            "units": self.units,
            "tied": self.tied,
            "kernel_initializer": keras.initializers.serialize(self.kernel_initializer),
            "kernel_regularizer": keras.regularizers.serialize(self.kernel_regularizer),
        }
