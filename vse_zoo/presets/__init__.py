"""Preset folder ↔ model: by name, folder or hub address; every file is data, and is checked (docs/presets.md).

config.json, model.weights.h5, metadata.json; for a model that takes sentences preprocessor.json and assets/; and, for
built-in models, a card written by hand: README.md.
"""

from vse_zoo.presets.integrity import check, record_hashes
from vse_zoo.presets.loading import languages, load, metadata
from vse_zoo.presets.locations import names, resolve
from vse_zoo.presets.publishing import upload
from vse_zoo.presets.regions import trained_on
from vse_zoo.presets.saving import save

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
