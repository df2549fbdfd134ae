"""From a folder of photos and a preset to an index of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from vse_zoo.errors import DataError, located
from vse_zoo.search.indexing import PhotoEncoder, Update, update_index
from vse_zoo.search.settings import SETTINGS, IndexSettings, preset_fingerprint

if TYPE_CHECKING:
    from vse_zoo.search.encoding import Encoder

__all__ = ["PRESET", "index_photos"]

PRESET = "context_attention_flickr8k_en_de"
"""Of a new index, where none is named."""


def index_photos(photos: Path, folder: Path, preset: str | None = None) -> Update:
    """Makes the index of a folder of photos, or brings it up to date; an interrupted run is continued.

    Where nothing is to be encoded, neither TensorFlow nor the preset is loaded.

    Args:
        photos: folder of photos, searched with all that is below it.
        folder: of the index; made if missing.
        preset: a built-in name, a preset or run folder, or ``hf://user/repo``; that of the index, where there is one.

    Raises:
        DataError: the folders can't be read, or don't fit one another.
        PresetError: there is no such preset, or it can't index photos.
    """
    if not photos.is_dir():
        raise DataError(located(photos, "found no folder there.", do="Name the folder that holds the photos."))
    settings, encoder = _settings(str(photos.resolve()), folder, preset)
    return update_index(folder, settings, encoder)


def _settings(photos: str, folder: Path, preset: str | None) -> tuple[IndexSettings, Callable[[], PhotoEncoder]]:
    """The index's settings and what loads its encoder."""
    old = IndexSettings.read(folder) if (folder / SETTINGS).is_file() else None
    name = preset or (old.preset if old else PRESET)
    if old and name == old.preset and (kept := old.find_preset()):
        return old.model_copy(update={"photos": photos, "preset_folder": str(kept)}), lambda: _encoder(str(kept))
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
    )
    return settings, lambda: encoder


def _encoder(preset: str) -> Encoder:
    from vse_zoo.search.encoding import Encoder  # brings TensorFlow, which takes seconds

    return Encoder(preset)
