"""Locally dense layers (2-Way Nets, Eisenschtat and Wolf, CVPR 2017, section 3.6)."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from vse_zoo.layers.tied_dense import TiedDense

__all__ = ["LocallyDense"]

Tensor = Any


@keras.saving.register_keras_serializable(package="vse_zoo")
class LocallyDense(TiedDense):
    """The input cut into ``parts``, a dense map for each, outputs side by side; 1/parts of a dense kernel's weights.

    Tied as `TiedDense` is: in reverse each part runs through the transpose of its own map.

    Args:
        units: size of the forward output; a multiple of ``parts``, as the input's size must be.
        parts: m, the number of maps.
        kwargs: those of `TiedDense`.

    Call arguments:
        inputs: (B, input size); with ``reverse``, (B, units).
        reverse: run backwards.

    Returns:
        (B, units); with ``reverse``, (B, input size).

    Raises:
        ValueError: a size can't be cut into ``parts``.
    """

    def __init__(self, units: int, parts: int = 2, **kwargs: Any) -> None:
        super().__init__(units, **kwargs)
        self.parts = parts
        _check_divisible("units", units, parts)

    def build(self, input_shape: tuple[int | None, ...]) -> None:
        """Creates kernels (parts, input size / parts, units / parts) and the two biases."""
        _check_divisible("the input's size", int(input_shape[-1] or 0), self.parts)
        super().build(input_shape)

    def _add_kernel(self, name: str) -> Any:
        # Each map is drawn as a dense layer of its own size would be.
        initializers = [self.kernel_initializer.clone() for _ in range(self.parts)]
        return self.add_weight(
            shape=(self.parts, self.input_dim // self.parts, self.units // self.parts),
            initializer=lambda shape, dtype: ops.stack([draw(shape[1:], dtype=dtype) for draw in initializers]),
            regularizer=self.kernel_regularizer,
            name=name,
        )

    def _forward(self, inputs: Tensor) -> Tensor:
        outputs = ops.einsum("bpi,pij->bpj", self._cut(inputs, self.input_dim), self.kernel)
        return ops.reshape(outputs, (-1, self.units))

    def _reverse(self, inputs: Tensor) -> Tensor:
        outputs = ops.einsum("bpj,pij->bpi", self._cut(inputs, self.units), self.reverse_kernel)
        return ops.reshape(outputs, (-1, self.input_dim))

    def _cut(self, inputs: Tensor, size: int) -> Tensor:
        return ops.reshape(inputs, (-1, self.parts, size // self.parts))

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        return {**super().get_config(), "parts": self.parts}


def _check_divisible(name: str, size: int, parts: int) -> None:
    if parts < 1 or size % parts:
        raise ValueError(f"{name} must be a multiple of parts, got {size} and {parts} parts.")
