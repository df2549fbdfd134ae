"""Two directions of a recurrent layer, safe to create while a `.keras` file loads."""

from __future__ import annotations

import weakref
from typing import Any

import keras

__all__ = ["bidirectional"]


def bidirectional(layer: keras.layers.Layer, **arguments: Any) -> keras.layers.Bidirectional:
    """Returns `keras.layers.Bidirectional(layer)`, which never shares weights with another one by chance.

    `Bidirectional` copies its layer through its configuration. While a model loads, Keras recognises objects by their
    `id` and gives back one copy for one `id`. When the copied layer is freed, Python may give its `id` to the layer of
    the next language, which would then get the first language's copy. The layer is therefore
    kept as long as its copies.

    Args:
        layer: the recurrent layer of the forward direction, from which both directions are copied.
        **arguments: further arguments of `keras.layers.Bidirectional`.
    """
    both = keras.layers.Bidirectional(layer, **arguments)
    weakref.finalize(both, lambda kept: None, layer).atexit = False  # a finalizer holds its arguments
    return both
