"""Pictures from and for the page: uploads decoded with care, photos of the index made small."""

from __future__ import annotations

import io
import stat
import warnings
from functools import lru_cache

from fastapi import HTTPException
from PIL import Image

from vse_zoo.errors import ImageError
from vse_zoo.images import load_image, missing_decoder, register_heif
from vse_zoo.search.index import Index

__all__ = ["MAX_PIXELS", "Photos", "uploaded"]

MAX_PIXELS = 60_000_000
"""Of an upload; a phone's photo has up to 50 million."""
_FORMATS = ("JPEG", "PNG", "WEBP", "AVIF", "HEIF", "GIF", "BMP", "TIFF", "JPEG2000", "PPM")
"""Of uploads: none whose decoder runs other programs, as that of PostScript does."""
_THUMBNAIL, _PHOTO = 360, 1600
"""Pixels of the longer side."""
_KEPT = 2048
"""Thumbnails in memory, 20 KB each."""


def uploaded(content: bytes, side: int) -> Image.Image:
    """The picture that somebody sent, to be squeezed to a side; an `ImageError` where it is none, damaged, of a rare
    format or too large.
    """
    Image.init()
    register_heif()
    formats = [name for name in _FORMATS if name in Image.OPEN]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(content), formats=formats) as image:
                pixels = image.width * image.height
    except Exception:  # on damaged bytes a decoder raises whatever its parser trips over
        do = "Send a JPEG, PNG, WebP, GIF, BMP or TIFF file."
        raise ImageError(missing_decoder(content) or f"The file can't be read as a picture. {do}") from None
    if pixels > MAX_PIXELS:
        found = f"{pixels / 1e6:,.0f} million pixels"
        raise ImageError(f"The picture has {found}, expected at most {MAX_PIXELS / 1e6:.0f} million. Make it smaller.")
    return load_image(io.BytesIO(content), side)


class Photos:
    """An index's photos by their keys, as small JPEGs: no file that isn't in the catalogue, and none as it is.

    Args:
        index: an opened index.
    """

    def __init__(self, index: Index) -> None:
        self._index = index
        self.thumbnail = lru_cache(_KEPT)(self._thumbnail)

    def _thumbnail(self, key: int) -> bytes:
        return _jpeg(self.open(key, _THUMBNAIL), _THUMBNAIL)

    def photo(self, key: int) -> bytes:
        """Large enough for a screen."""
        return _jpeg(self.open(key, _PHOTO), _PHOTO)

    def open(self, key: int, side: int) -> Image.Image:
        """The photo, upright; of a large JPEG no more than ``side`` needs is decoded.

        Raises:
            HTTPException: 404 where there is no such key; 410 where none of its files can be opened any more.
        """
        paths = self._index.files(key)
        if not paths:
            raise HTTPException(404, f"photo: found {key}, which the index doesn't hold.")
        for path in paths:
            try:
                if stat.S_ISREG(path.stat().st_mode):
                    return load_image(path, side)
            except (OSError, ImageError):
                continue
        do = "Index the photos again, then start the page again."
        raise HTTPException(410, f"photo {key} was moved, deleted or damaged since it was indexed. {do}")


def _jpeg(picture: Image.Image, side: int) -> bytes:
    picture.thumbnail((side, side), Image.Resampling.BICUBIC)
    stream = io.BytesIO()
    picture.save(stream, "JPEG", quality=82)  # a new file: no place or name from the old one's EXIF
    return stream.getvalue()
