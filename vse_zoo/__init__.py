"""vse_zoo: visual-semantic embeddings for Keras 3. Importing it registers every class of the package with Keras."""

from vse_zoo.quiet import without_gpu_notices

with without_gpu_notices():
    from vse_zoo import layers, losses, metrics, models, preprocessing, regularizers
from vse_zoo.presets import load
from vse_zoo.presets import names as list_presets
from vse_zoo.presets import upload as upload_preset

__all__ = [
    "layers",
    "list_presets",
    "load",
    "losses",
    "metrics",
    "models",
    "preprocessing",
    "regularizers",
    "upload_preset",
]
