"""Search in one's own photos: an index of a folder, by sentence or by picture (docs/search.md)."""

from vse_zoo.search.answers import Answer, Result
from vse_zoo.search.calibration import Calibration
from vse_zoo.search.index import Index
from vse_zoo.search.indexing import Update, update_index
from vse_zoo.search.local import LocalBackend
from vse_zoo.search.protocol import Backend
from vse_zoo.search.qdrant import QdrantBackend
from vse_zoo.search.settings import IndexSettings

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
