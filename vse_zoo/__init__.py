"""vse_zoo: visual-semantic embeddings for Keras 3. Importing it registers every class of the package with Keras."""

import os

# TensorFlow tells of absent GPUs at every start; set the variable yourself to see more or less.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

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
