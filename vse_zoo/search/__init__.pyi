"""Search in one's own photos: an index of a folder, by sentence or by picture (docs/search.md)."""

from .answers import Answer, Result
from .calibration import Calibration
from .index import Index
from .indexing import Update, update_index
from .local import LocalBackend
from .protocol import Backend
from .qdrant import QdrantBackend
from .settings import IndexSettings

__all__ = [
    "Answer",
    "Backend",
    "Calibration",
    "Index",
    "IndexSettings",
    "LocalBackend",
    "QdrantBackend",
    "Result",
    "Update",
    "update_index",
]
