"""How backbones are named; apart from the backbones themselves, which need TensorFlow."""

from __future__ import annotations

__all__ = ["BUILT_IN", "IMAGENET", "KERAS", "KERAS_HUB"]

BUILT_IN = "efficientnet_lite0"
IMAGENET = "imagenet"
"""The weights of `keras.applications`."""
KERAS = "keras:"
KERAS_HUB = "kerashub:"
