"""Any picture file to upright 8-bit RGB pixels."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

import numpy as np
from PIL import Image, ImageOps

from vse_zoo.errors import ImageError, located

__all__ = ["load_image", "square_pixels"]

_FINER = 2
"""How many times as large a picture is decoded, at least, as it is to be."""

Pixels = np.ndarray[tuple[int, int, int], np.dtype[np.uint8]]


def load_image(source: str | Path | BinaryIO, side: int | None = None) -> Image.Image:
    """Decodes a picture to mode RGB, turned upright by its EXIF orientation.

    Animations give their first frame, transparency is laid over white, 16- and 32-bit samples are scaled to 8 bits, and
    CMYK, palette and grey pictures are converted. A missing, truncated or unreadable file is an `ImageError` naming it.

    With ``side`` a JPEG is decoded at 1/2, 1/4 or 1/8 of its size if both its sides then still have twice as many
    pixels: a camera's photo four times as fast, and no pixel of it, squeezed to that side, differs by more than two or
    three of 255.
    """
    name = getattr(source, "name", "picture") if hasattr(source, "read") else source
    try:
        with Image.open(source) as image:
            image.seek(0)
            if side is not None:
                image.draft(None, (_FINER * side, _FINER * side))
            image.load()
            return _rgb(ImageOps.exif_transpose(image))
    except FileNotFoundError:
        raise ImageError(located(name, "no such file.")) from None
    except Exception as error:  # on damaged bytes a decoder raises whatever its parser trips over
        reason = str(error).rstrip(".") or type(error).__name__
        raise ImageError(located(name, f"can't be decoded as a picture ({reason}).")) from error


def square_pixels(image: Image.Image, size: int) -> Pixels:
    """The whole picture squeezed to a square: (size, size, 3) uint8, antialiased bicubic.

    Nothing is cropped, so that a box relative to the square is the same box relative to the picture.
    """
    rgb = image if image.mode == "RGB" else _rgb(image)
    if rgb.size != (size, size):
        rgb = rgb.resize((size, size), Image.Resampling.BICUBIC)
    return np.asarray(rgb, dtype=np.uint8)


def _rgb(image: Image.Image) -> Image.Image:
    """Mode RGB from any mode that Pillow decodes to."""
    if image.mode.startswith(("I", "F")):
        image = _eight_bits(image)
    if image.has_transparency_data:
        picture = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", picture.size, "white"), picture)
    return image.convert("RGB")


def _eight_bits(image: Image.Image) -> Image.Image:
    """Grey in 0…255 from 16-bit, 32-bit or float grey: Pillow's own convert would clip everything above 255 to white.

    The full scale is that of the smallest usual range the samples fit in: 1 (float only), 65535, or else their maximum.
    """
    samples = np.asarray(image, dtype=np.float64)
    if not np.isfinite(samples).all():
        raise ValueError("it holds values that aren't finite")
    top = float(samples.max())
    full = 1.0 if image.mode == "F" and top <= 1.0 else max(top, 65535.0)
    return Image.fromarray(np.rint(np.clip(samples / full, 0.0, 1.0) * 255.0).astype(np.uint8))
