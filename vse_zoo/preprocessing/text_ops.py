"""TensorFlow Text, whose ops split sentences inside the graph; it has no wheel for Windows."""

from __future__ import annotations

from vse_zoo.errors import ConfigError

try:
    import tensorflow_text as tf_text
except ModuleNotFoundError as error:
    if error.name != "tensorflow_text":
        raise
    raise ConfigError(
        "sentences: need tensorflow-text, which isn't installed. Run: pip install tensorflow-text. "
        "It has no version for Windows: use vse_zoo inside WSL 2 there."
    ) from None

__all__ = ["tf_text"]
