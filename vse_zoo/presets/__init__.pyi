"""Preset folder ↔ model: by name, folder or hub address; every file is data, and is checked (docs/presets.md).

config.json, model.weights.h5, metadata.json; for a model that takes sentences preprocessor.json and assets/; and, for
built-in models, a card written by hand: README.md.
"""

from .integrity import check, record_hashes
from .loading import load
from .locations import names, resolve
from .publishing import upload
from .records import languages, metadata
from .regions import trained_on
from .saving import save

__all__ = [
    "check",
    "languages",
    "load",
    "metadata",
    "names",
    "record_hashes",
    "resolve",
    "save",
    "trained_on",
    "upload",
]
