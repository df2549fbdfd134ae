"""The precision of layers that are made within a block."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import keras

__all__ = ["dtype_policy"]


@contextmanager
def dtype_policy(policy: Any) -> Iterator[None]:
    """Layers that are made within the block get this precision; after it the former policy holds again.

    Args:
        policy: A `keras.DTypePolicy`, its name or its configuration.
    """
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy(keras.dtype_policies.get(policy))
    try:
        yield
    finally:
        keras.config.set_dtype_policy(before)
