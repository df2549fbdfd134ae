"""What the dense layers that run both ways share: their shapes, and the order of their first calls."""

from __future__ import annotations

from typing import Any

import keras

__all__ = ["ReversibleLayer"]

Tensor = Any


class ReversibleLayer(keras.layers.Layer):
    """Maps (…, input size) to (…, units) and, with ``reverse=True``, (…, units) to (…, input size).

    Subclasses set ``units`` in their constructor and ``input_dim`` in `build`.

    Args:
        kwargs: those of `keras.layers.Layer`.
    """

    units: int
    input_dim: int

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """As `call`.

        Raises:
            ValueError: the first call of a layer that isn't built is in reverse.
        """
        self._check_built(kwargs.get("reverse", False))
        return super().__call__(*args, **kwargs)

    def _check_built(self, reverse: bool) -> None:
        """Keras would build the layer for the shape of what comes in, which in reverse is that of an output."""
        if reverse and not self.built:
            raise ValueError(
                f"{type(self).__name__} {self.name!r}: found reverse=True before the layer was built, so that the size "
                "of its forward input isn't known. Call it forwards first, or build it: "
                "layer.build((None, input_size))."
            )

    def compute_output_shape(self, input_shape: tuple[int | None, ...]) -> tuple[int | None, ...]:
        """The shape of the forward output."""
        return (*input_shape[:-1], self.units)

    def compute_output_spec(self, inputs: Tensor, reverse: bool = False) -> Any:
        """Shape and dtype of either direction's output."""
        self._check_built(reverse)
        shape = (*inputs.shape[:-1], self.input_dim) if reverse else self.compute_output_shape(inputs.shape)
        return keras.KerasTensor(shape, dtype=self.compute_dtype)
