"""What the losses share: they are layers that compute in float32 and return one number."""

from __future__ import annotations

from typing import Any

import keras

__all__ = ["BatchLoss"]

Tensor = Any


class BatchLoss(keras.layers.Layer):
    """A layer whose output is the scalar loss of a batch; subclasses implement `call`.

    Scores are not cast on the way in, so that mixed precision does not round them to half precision.

    Args:
        kwargs: those of `keras.layers.Layer`.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(autocast=False, **kwargs)
        self.supports_masking = True
        self.built = True

    def compute_mask(self, inputs: Tensor, previous_mask: Tensor | None = None) -> None:
        """A scalar needs no mask."""
        return
