"""A folder of photos to an index of them; what is there already is kept, a killed run goes on where it stopped."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from vse_zoo.errors import DataError, located
from vse_zoo.images import optional_formats
from vse_zoo.progress import progress
from vse_zoo.search.backends import VECTORS, check_backend, drop_remote_vectors, drop_vectors, open_backend
from vse_zoo.search.catalogue import Catalogue
from vse_zoo.search.photos import Listing, list_photos
from vse_zoo.search.protocol import Backend
from vse_zoo.search.reading import Photo, read_photos
from vse_zoo.search.settings import SETTINGS, IndexSettings

__all__ = ["CATALOGUE", "PhotoEncoder", "Update", "update_index"]

CATALOGUE = "catalogue.sqlite"
_LOCK = "lock.sqlite"
_BATCH = 32
_FORMATS = {"HEIF": 1, "AVIF": 2}


class PhotoEncoder(Protocol):
    """What indexing needs of a model: `vse_zoo.search.encoding.Encoder` is one."""

    def encode(self, pixels: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Pixels (B, S, S, 3) to vectors (B, *shape)."""


@dataclass(frozen=True)
class Update:
    """What a run of `update_index` did.

    Args:
        encoded: different pictures that were turned into vectors.
        new: files that weren't known.
        changed: files whose size or time was another.
        gone: files that are no longer there.
        photos: files that can be found now.
        contents: different pictures among them; the others are copies.
        unreadable: files and folders that can't be read → reason.
    """

    encoded: int
    new: int
    changed: int
    gone: int
    photos: int
    contents: int
    unreadable: dict[str, str]


def update_index(
    folder: Path, settings: IndexSettings, encoder: Callable[[], PhotoEncoder], batch_size: int = _BATCH
) -> Update:
    """Brings an index folder up to its photos.

    A file is read where its size or time of change is another, or where it couldn't be decoded and now another set of
    formats can be. A picture is encoded where its content is new, and is then kept before the next batch begins. An
    index by another preset, or with its vectors elsewhere, is made anew.

    Args:
        folder: of the index; made if missing.
        settings: of the index.
        encoder: called once, if there is a picture to encode.
        batch_size: pictures encoded and kept together.

    Raises:
        DataError: the photos can't be listed, another run is at work on the index, ``folder`` holds something else or
            the index of other photos, or what keeps its vectors fails.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with _alone(folder):
        _adopt(folder, settings)
        # Vectors that the catalogue knows must be there: an empty collection in their stead would hide the loss.
        with (
            closing(Catalogue(folder / CATALOGUE)) as catalogue,
            closing(open_backend(folder, settings, make=catalogue.counts()[1] == 0)) as backend,
        ):
            return _update(folder, settings, catalogue, backend, encoder, batch_size)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Keeps a second run out; SQLite's locks end with the process, however that ends."""
    lock = sqlite3.connect(folder / _LOCK, timeout=0, isolation_level=None)
    try:
        lock.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError:
        raise DataError(located(folder, "another run is at work on this index.", do="Wait until it is done.")) from None
    else:
        yield
    finally:
        lock.close()


def _adopt(folder: Path, settings: IndexSettings) -> None:
    """Writes the settings; what vectors of other ones are there is dropped first."""
    names = {path.name.removesuffix("-journal") for path in folder.iterdir() if not path.name.startswith(".")}
    if foreign := names - {SETTINGS, CATALOGUE, _LOCK, VECTORS}:
        problem = f"found {min(foreign)!r} there, which is no part of an index."
        raise DataError(located(folder, problem, do="Name a new folder with --out."))
    old = IndexSettings.read(folder) if (folder / SETTINGS).is_file() else None
    if old == settings:
        return
    if old and old.photos != settings.photos and Path(old.photos).is_dir():
        problem = f"is the index of {old.photos}, not of {settings.photos}."
        raise DataError(located(folder, problem, do="Name another folder with --out."))
    if old is None or not settings.keeps(old):
        check_backend(settings)
        # In this order, so that a kill in between leaves no settings; they alone name what isn't in the folder.
        if old is not None:
            drop_remote_vectors(old)
        (folder / SETTINGS).unlink(missing_ok=True)
        (folder / CATALOGUE).unlink(missing_ok=True)
        drop_vectors(folder)
    settings.write(folder)


def _update(
    folder: Path,
    settings: IndexSettings,
    catalogue: Catalogue,
    backend: Backend,
    encoder: Callable[[], PhotoEncoder],
    batch_size: int,
) -> Update:
    root = Path(settings.photos)
    listing = list_photos(root, skip=[folder])
    decoded = optional_formats()
    catalogue.retry_undecodable(sum(number for name, number in _FORMATS.items() if name in decoded))
    before, stamps = catalogue.paths(), catalogue.stamps()
    gone = [path for path in before - listing.files.keys() if not listing.may_hold(path)]
    with catalogue.transaction():
        catalogue.forget_files(gone)
    pending = [path for path, stamp in listing.files.items() if stamps.get(path) != stamp]
    encoded = 0
    if pending:
        encoded = _Filling(root, listing, catalogue, backend, encoder).fill(pending, settings.image_size, batch_size)
    if unused := catalogue.unused():
        # The backend first: what is in the catalogue alone is tried again.
        backend.remove(unused)
        with catalogue.transaction():
            catalogue.drop_contents(unused)
    backend.finish()
    changed = sum(path in stamps for path in pending)
    new = len(listing.files.keys() - before)
    return Update(encoded, new, changed, len(gone), *catalogue.counts(), listing.unreadable | catalogue.unreadable())


class _Filling:
    """Reads, encodes and keeps files."""

    def __init__(
        self,
        root: Path,
        listing: Listing,
        catalogue: Catalogue,
        backend: Backend,
        encoder: Callable[[], PhotoEncoder],
    ) -> None:
        self._root, self._listing = root, listing
        self._catalogue, self._backend = catalogue, backend
        self._encoder = encoder
        self._loaded: PhotoEncoder | None = None
        self._keys = catalogue.keys_by_hash()

    def fill(self, paths: list[str], image_size: int, batch_size: int) -> int:
        """All files; how many pictures were encoded."""
        encoded = 0
        with progress("photos", len(paths)) as bar:
            for photos in read_photos(self._root, paths, set(self._keys), image_size, batch_size):
                encoded += self._keep(photos)
                bar.advance(len(photos))
        return encoded

    def _keep(self, photos: list[Photo]) -> int:
        """One batch: vectors first, then the catalogue, whole or not at all."""
        pictures = [photo for photo in photos if photo.pixels is not None]
        vectors = self._encode(pictures)
        with self._catalogue.transaction():
            for photo in photos:
                if photo.digest is not None and photo.digest not in self._keys:
                    self._keys[photo.digest] = self._catalogue.add_content(photo.digest, photo.reason)
            if pictures:
                keys = np.array([self._keys[photo.digest] for photo in pictures if photo.digest is not None], np.int64)
                self._backend.add(keys, vectors)
            for photo in photos:
                key = None if photo.digest is None else self._keys[photo.digest]
                stamp, reason = self._listing.files[photo.path], photo.reason if key is None else None
                self._catalogue.put_file(photo.path, stamp, key, reason)
        return len(pictures)

    def _encode(self, pictures: list[Photo]) -> NDArray[np.float32]:
        if not pictures:
            return np.zeros((0, *self._backend.shape), np.float32)
        if self._loaded is None:
            self._loaded = self._encoder()
        return self._loaded.encode(np.stack([photo.pixels for photo in pictures if photo.pixels is not None]))
