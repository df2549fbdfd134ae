"""An index folder's backend."""

from __future__ import annotations

from pathlib import Path

from vse_zoo.search.local import LocalBackend
from vse_zoo.search.protocol import Backend
from vse_zoo.search.settings import IndexSettings

__all__ = ["VECTORS", "open_backend"]

VECTORS = "vectors"


def open_backend(folder: Path, settings: IndexSettings) -> Backend:
    """What keeps the vectors of the index in ``folder``."""
    return LocalBackend(folder / VECTORS, settings.shape)
