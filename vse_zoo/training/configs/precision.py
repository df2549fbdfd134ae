"""The field ``precision`` of the [train] section: the type that a model's layers compute in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from vse_zoo.ops.precision import dtype_policy
from vse_zoo.training.configs.base import TrainConfig

__all__ = ["PrecisionTrainConfig"]


class PrecisionTrainConfig(TrainConfig):
    """How long is trained, from which seed, and in which precision."""

    precision: Literal["float32", "mixed_bfloat16", "mixed_float16"] = "float32"

    @contextmanager
    def policy(self) -> Iterator[None]:
        """Layers made within compute in ``precision``, their weights stay float32; then the old policy is back."""
        with dtype_policy(self.precision):
            yield
