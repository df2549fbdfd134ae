"""vse_zoo: visual-semantic embeddings for Keras 3. What a name stands for is imported when the name is used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from vse_zoo.registration import register_with_keras

if TYPE_CHECKING:
    from vse_zoo import data, evaluation, features, layers, losses, metrics, models, preprocessing, regularizers, search
    from vse_zoo.presets import load
    from vse_zoo.presets import names as list_presets
    from vse_zoo.presets import upload as upload_preset

__all__ = [
    "__version__",
    "data",
    "evaluation",
    "features",
    "layers",
    "list_presets",
    "load",
    "losses",
    "metrics",
    "models",
    "preprocessing",
    "regularizers",
    "search",
    "upload_preset",
]

_PRESETS = {"list_presets": "names", "load": "load", "upload_preset": "upload"}
"""Functions of `vse_zoo.presets`, by their names here and there."""


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name == "__version__":
        from importlib.metadata import version

        return version("vse-zoo")
    if name in _PRESETS:
        return getattr(import_module("vse_zoo.presets"), _PRESETS[name])
    return import_module(f"vse_zoo.{name}")


def __dir__() -> list[str]:
    return list(__all__)


register_with_keras()
