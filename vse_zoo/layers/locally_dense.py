"""Locally dense layers (2-Way Nets, Eisenschtat and Wolf, CVPR 2017, section 3.6)."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from vse_zoo.layers.reversible import ReversibleLayer
from vse_zoo.layers.tied_dense import TiedDense

__all__ = ["LocallyDense"]

Tensor = Any


@keras.saving.register_keras_serializable(package="vse_zoo")
class LocallyDense(ReversibleLayer):
    """The input cut into ``parts``, a `TiedDense` for each, outputs side by side; 1/parts of a dense kernel's weights.

    The biases of the parts side by side are the one bias that the paper adds. In reverse each part runs through the
    transpose of its own map.

    Args:
        units: size of the forward output; a multiple of ``parts``, as the input's size must be.
        parts: m, the number of maps.
        tied, kernel_initializer, kernel_regularizer: of each `TiedDense`.

    Call arguments:
        inputs: (…, input size); with ``reverse``, (…, units).
        reverse: run backwards. The layer must be built, or have been called forwards.

    Returns:
        (…, units); with ``reverse``, (…, input size).

    Raises:
        ValueError: a size can't be cut into ``parts``, or the first call of a layer that isn't built is in reverse.
    """

    def __init__(
        self,
        units: int,
        parts: int = 2,
        tied: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        kernel_regularizer: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        _check_divisible("units", units, parts)
        self.supports_masking = True
        self.units = units
        self.parts = parts
        # Layers of their own, not one stacked kernel: a step then holds the gradients of one part at a time.
        self.maps = [
            TiedDense(
                units // parts,
                tied=tied,
                kernel_initializer=keras.initializers.get(kernel_initializer).clone(),
                kernel_regularizer=kernel_regularizer,
                dtype=self.dtype_policy,
                name=f"part_{number + 1}",
            )
            for number in range(parts)
        ]

    def build(self, input_shape: tuple[Any, ...]) -> None:
        """Creates the maps for a forward input of that shape."""
        self.input_dim = int(input_shape[-1])
        _check_divisible("the input's size", self.input_dim, self.parts)
        for layer in self.maps:
            layer.build((*input_shape[:-1], self.input_dim // self.parts))
        self.built = True

    def call(self, inputs: Tensor, reverse: bool = False) -> Tensor:
        """One direction; shapes in the class's documentation."""
        cut = ops.split(inputs, self.parts, axis=-1)
        outputs = [layer(part, reverse=reverse) for layer, part in zip(self.maps, cut, strict=True)]
        return ops.concatenate(outputs, axis=-1)

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        shared = self.maps[0].get_config()
        names = ("tied", "kernel_initializer", "kernel_regularizer")
        sizes = {"units": self.units, "parts": self.parts}
        return {**super().get_config(), **sizes, **{name: shared[name] for name in names}}


def _check_divisible(name: str, size: int, parts: int) -> None:
    if parts < 1 or size % parts:
        raise ValueError(f"{name} must be a multiple of parts, got {size} and {parts} parts.")
