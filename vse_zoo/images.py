"""Any picture file to upright 8-bit RGB pixels."""

from __future__ import annotations

from pathlib import Path
from typing import Any, BinaryIO, TypeGuard

import numpy as np
from PIL import Image, ImageOps, features

from vse_zoo.errors import ImageError, located

__all__ = [
    "FINER",
    "Picture",
    "Pixels",
    "is_picture",
    "load_image",
    "missing_decoder",
    "optional_formats",
    "read_picture",
    "register_heif",
    "square_pixels",
]

FINER = 2
"""How many times as large a picture is decoded, at least, as it is to be."""

# The first bytes of a file: a length, "ftyp", and one of these (ISO/IEC 23008-12 and the AV1 image format).
_HEIF = frozenset({b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"hevm", b"hevs", b"mif1", b"msf1"})
_AVIF = frozenset({b"avif", b"avis"})
_HEAD = 12

Pixels = np.ndarray[tuple[int, int, int], np.dtype[np.uint8]]
Picture = str | Path | BinaryIO | Image.Image | np.ndarray[Any, np.dtype[np.uint8]]
"""A file, an opened file, a Pillow image, or pixels (H, W), (H, W, 1), (H, W, 3) or (H, W, 4): grey, RGB or RGBA."""


def is_picture(pictures: Any) -> TypeGuard[Picture]:
    """Whether this is one `Picture`, rather than several."""
    is_file = isinstance(pictures, str | Path | Image.Image) or hasattr(pictures, "read")
    return is_file or getattr(pictures, "ndim", None) in (2, 3)


def read_picture(picture: Picture, side: int | None = None, name: str = "picture") -> Image.Image:
    """Any picture in mode RGB, turned upright by its EXIF orientation.

    Args:
        picture: a path or an opened file, decoded as by `load_image`; a Pillow image, taken as it is, at its full size;
            or pixels.
        side: as in `load_image`.
        name: what messages call a picture that has no file name.

    Raises:
        ImageError: the file is missing or can't be decoded, or the array doesn't hold pixels.
    """
    if isinstance(picture, Image.Image):
        name = getattr(picture, "filename", "") or name
        try:
            return _rgb(ImageOps.exif_transpose(picture))
        except Exception as error:  # a file that Pillow opened is decoded only here
            raise _undecodable(name, error) from error
    is_file = isinstance(picture, str | Path) or hasattr(picture, "read")
    if isinstance(picture, np.ndarray) or not is_file:
        return _rgb(Image.fromarray(_checked(picture, name)))
    return load_image(picture, side, name)


def load_image(source: str | Path | BinaryIO, side: int | None = None, name: str = "picture") -> Image.Image:
    """Decodes a picture to mode RGB, turned upright by its EXIF orientation.

    Animations give their first frame, transparency is laid over white, 16- and 32-bit samples are scaled to 8 bits, and
    CMYK, palette and grey pictures are converted. A missing, truncated or unreadable file is an `ImageError` naming it,
    and the package that decodes its format where that isn't installed.

    With ``side`` a JPEG is decoded at 1/2, 1/4 or 1/8 of its size if both its sides then still have twice as many
    pixels: a camera's photo four times as fast, and no pixel of it, squeezed to that side, differs by more than two or
    three of 255.

    ``name`` is what messages call an opened file that has none.
    """
    shown = getattr(source, "name", name) if hasattr(source, "read") else source
    register_heif()
    try:
        with Image.open(source) as image:
            # Of JPEG only: in a HEIF file it would take the thumbnail, whatever that shows.
            if side is not None and image.format in ("JPEG", "MPO"):
                image.draft(None, (FINER * side, FINER * side))
            image.load()
            return _rgb(ImageOps.exif_transpose(image))
    except FileNotFoundError:
        raise ImageError(located(shown, "no such file.")) from None
    except Exception as error:  # on damaged bytes a decoder raises whatever its parser trips over
        if missing := missing_decoder(_head(source), str(shown)):
            raise ImageError(located(shown, missing)) from None
        raise _undecodable(shown, error) from error


def register_heif() -> bool:
    """Lets Pillow open HEIC files where the package pillow-heif is installed; whether it can open them now."""
    if "HEIF" not in Image.OPEN:
        try:
            from pillow_heif import register_heif_opener  # of the extra "search"
        except ImportError:
            return False
        register_heif_opener()
    return True


def optional_formats() -> tuple[str, ...]:
    """Those of the formats HEIF and AVIF, for which not every installation has a decoder, that can be decoded."""
    return (*(["HEIF"] if register_heif() else []), *(["AVIF"] if features.check("avif") else []))


def missing_decoder(head: bytes, name: str = "") -> str | None:
    """What to install for a file that can't be decoded; None where that isn't the reason.

    Args:
        head: the first bytes of the file, 12 at least.
        name: of the file, whose ending counts too.
    """
    kind = head[8:12] if head[4:8] == b"ftyp" else b""
    ending, formats = Path(name).suffix.lower(), optional_formats()
    if "HEIF" not in formats and (kind in _HEIF or ending in (".heic", ".heif", ".hif")):
        return "HEIC needs the package pillow-heif, which isn't installed. Run: pip install pillow-heif"
    if "AVIF" not in formats and (kind in _AVIF or ending == ".avif"):
        return "AVIF needs a Pillow that decodes it. Run: pip install --upgrade pillow"
    return None


def square_pixels(image: Image.Image, size: int) -> Pixels:
    """The whole picture squeezed to a square: (size, size, 3) uint8, antialiased bicubic.

    Nothing is cropped, so that a box relative to the square is the same box relative to the picture.
    """
    rgb = image if image.mode == "RGB" else _rgb(image)
    if rgb.size != (size, size):
        rgb = rgb.resize((size, size), Image.Resampling.BICUBIC)
    return np.asarray(rgb, dtype=np.uint8)


def _head(source: str | Path | BinaryIO) -> bytes:
    """The first bytes of a file, or none where they can't be read."""
    try:
        if isinstance(source, str | Path):
            with Path(source).open("rb") as file:
                return file.read(_HEAD)
        source.seek(0)
        return source.read(_HEAD)
    except (OSError, ValueError):
        return b""


def _undecodable(name: str | Path, error: Exception) -> ImageError:
    reason = str(error).rstrip(".") or type(error).__name__
    return ImageError(located(name, f"can't be decoded as a picture ({reason})."))


def _checked(picture: Any, name: str) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Pixels (H, W), (H, W, 3) or (H, W, 4)."""
    if not hasattr(picture, "__array__"):
        problem = f"found a {type(picture).__name__}, expected a path, an opened file, a Pillow image or an array."
        raise ImageError(located(name, problem))
    pixels = np.asarray(picture)
    channels = pixels.shape[2] if pixels.ndim == 3 else 1
    if pixels.dtype != np.uint8 or pixels.ndim not in (2, 3) or channels not in (1, 3, 4) or not pixels.size:
        found = f"found an array of {pixels.dtype} and shape {pixels.shape}"
        do = "Scale other numbers to 0 … 255 and convert them to uint8."
        raise ImageError(located(name, f"{found}, expected pixels (height, width, 3) of uint8.", do=do))
    return pixels[..., 0] if pixels.ndim == 3 and channels == 1 else pixels


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
