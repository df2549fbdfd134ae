"""What the losses share: they are layers that don't round to half precision, and they return one number."""

from __future__ import annotations

from typing import Any

import keras

from vse_zoo.layers.full_precision import FullPrecisionLayer

__all__ = ["BatchLoss"]

Tensor = Any


class BatchLoss(FullPrecisionLayer):
    """A layer whose output is the scalar loss of a batch; subclasses implement `call`.

    A loss is float32 under mixed precision, and its inputs are not rounded to half precision on the way in. Under a
    float64 policy it is float64.

    Args:
        kwargs: those of `keras.layers.Layer`.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        self.built = True

    def compute_mask(self, inputs: Tensor, previous_mask: Tensor | None = None) -> None:
        """A scalar needs no mask."""
        return

    def compute_output_shape(self, *shapes: Any) -> tuple[()]:
        """The shape of a scalar."""
        return ()

    def compute_output_spec(self, *args: Any, **kwargs: Any) -> Any:
        """Shape and dtype of the loss."""
        return keras.KerasTensor((), dtype=self.compute_dtype)
