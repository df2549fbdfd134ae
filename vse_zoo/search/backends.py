"""An index folder's backend."""

from __future__ import annotations

import shutil
from pathlib import Path

from vse_zoo.search.local import LocalBackend
from vse_zoo.search.protocol import Backend
from vse_zoo.search.qdrant import QdrantBackend, check_place, drop_collection
from vse_zoo.search.settings import IndexSettings

__all__ = ["VECTORS", "check_backend", "drop_remote_vectors", "drop_vectors", "open_backend"]

VECTORS = "vectors"


def open_backend(folder: Path, settings: IndexSettings, make: bool = False) -> Backend:
    """What keeps the vectors of the index in ``folder``; ``make``: it may be missing, since there are none yet."""
    if settings.qdrant is None:
        return LocalBackend(folder / VECTORS, settings.shape)
    where, place = settings.qdrant.url or folder / VECTORS, settings.qdrant
    return QdrantBackend(where, place.collection, settings.shape, make, place.exact_up_to)


def check_backend(settings: IndexSettings) -> None:
    """An error where vectors can't be kept in the place that the settings name."""
    if settings.qdrant:
        check_place(settings.qdrant.url)


def drop_remote_vectors(settings: IndexSettings) -> None:
    """Removes the vectors that an index keeps outside its folder."""
    if settings.qdrant and settings.qdrant.url:
        drop_collection(settings.qdrant.url, settings.qdrant.collection)


def drop_vectors(folder: Path) -> None:
    """Removes the vectors that an index keeps in its folder."""
    shutil.rmtree(folder / VECTORS, ignore_errors=True)
