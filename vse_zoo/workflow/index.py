"""From a folder of photos and a preset to an index of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from vse_zoo.errors import DataError, located
from vse_zoo.registry import SEARCH_PRESET
from vse_zoo.search.indexing import PhotoEncoder, Update, update_index
from vse_zoo.search.qdrant import server_url
from vse_zoo.search.settings import SETTINGS, IndexSettings, QdrantPlace, preset_fingerprint

if TYPE_CHECKING:
    from vse_zoo.search.encoding import Encoder

__all__ = ["LOCAL", "index_photos"]

LOCAL = "local"
"""In the place of a Qdrant server's address: a folder in the index."""


def index_photos(photos: Path, folder: Path, preset: str | None = None, qdrant: str | None = None) -> Update:
    """Makes the index of a folder of photos, or brings it up to date; an interrupted run is continued.

    Where nothing is to be encoded, the preset is not loaded.

    Args:
        photos: folder of photos, searched with all that is below it.
        folder: of the index; made if missing.
        preset: a built-in name, a preset or run folder, or ``hf://user/repo``; that of the index, where there is one.
        qdrant: address of the Qdrant server that keeps the vectors, or "local" for Qdrant in a folder of the index;
            where they are, if there is an index, else in files of vse_zoo's own.

    Raises:
        ConfigError: ``qdrant`` is no address, or qdrant-client isn't installed.
        DataError: the folders can't be read, or don't fit one another.
        PresetError: there is no such preset, or it can't index photos.
    """
    if not photos.is_dir():
        raise DataError(located(photos, "found no folder there.", do="Name the folder that holds the photos."))
    settings, encoder = _settings(str(photos.resolve()), folder, preset, qdrant)
    return update_index(folder, settings, encoder)


def _settings(
    photos: str, folder: Path, preset: str | None, qdrant: str | None
) -> tuple[IndexSettings, Callable[[], PhotoEncoder]]:
    """The index's settings and what loads its encoder."""
    old = IndexSettings.read(folder) if (folder / SETTINGS).is_file() else None
    place = _place(qdrant, old.qdrant if old else None)
    name = preset or (old.preset if old else SEARCH_PRESET)
    if old and name == old.preset and (kept := old.find_preset()):
        new = {"photos": photos, "preset_folder": str(kept), "qdrant": place}
        return old.model_copy(update=new), lambda: _encoder(str(kept))
    encoder = _encoder(name)
    from vse_zoo import presets  # brings TensorFlow, which takes seconds

    found = presets.resolve(name).resolve()
    settings = IndexSettings(
        photos=photos,
        preset=name,
        preset_folder=str(found),
        fingerprint=preset_fingerprint(found),
        similarity=encoder.similarity,
        shape=encoder.shape,
        image_size=encoder.image_size,
        qdrant=place,
    )
    return settings, lambda: encoder


def _place(asked: str | None, old: QdrantPlace | None) -> QdrantPlace | None:
    """Where the vectors are to be: the same collection, unless another server is asked for."""
    if asked is None:
        return old
    url = None if asked == LOCAL else server_url(asked)
    return old if old and old.url == url else QdrantPlace(url=url, collection=f"vse_zoo_{uuid4().hex}")


def _encoder(preset: str) -> Encoder:
    from vse_zoo.search.encoding import Encoder  # brings TensorFlow, which takes seconds

    return Encoder(preset)
