"""Preset folder ↔ model: by name, folder or hub address; every file is data, and is checked (docs/presets.md).

config.json, model.weights.h5, metadata.json; for a model that takes sentences preprocessor.json and assets/; and, for
built-in models, a card written by hand: README.md.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
