"""Names of picture files: their endings, and which differences of spelling don't matter."""

from __future__ import annotations

import os
import unicodedata

__all__ = ["ENDINGS", "printable", "respelt", "spelling", "without_ending"]

ENDINGS = frozenset(
    {
        *(".jpg", ".jpeg", ".jpe", ".jfif", ".png", ".webp", ".avif", ".heic", ".heif", ".hif"),
        *(".gif", ".bmp", ".tif", ".tiff", ".jp2", ".ppm", ".pgm", ".tga"),
    }
)
"""Of file names, in lower case; what is in the file decides how it is decoded."""


def without_ending(name: str) -> str:
    """The name without the ending of a picture file; other endings stay, as that of ``v1.0``."""
    stem, ending = os.path.splitext(name)
    return stem if ending.lower() in ENDINGS else name


def spelling(name: str) -> str:
    r"""What names have in common that differ only by ``\`` for ``/``, by case, or by Unicode form (NFC and NFD).

    It is the caseless form of the Unicode Standard (section 3.13, definition D145).
    """
    plain = unicodedata.normalize("NFD", name.replace("\\", "/"))
    return unicodedata.normalize("NFD", plain.casefold())


def printable(name: str) -> str:
    """The name with � for every byte that isn't UTF-8: such bytes of file names can't be printed or encoded."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def respelt(names: dict[str, str], whose: str) -> str:
    """One sentence on names that were matched in spite of their spelling.

    Args:
        names: as they are given, and what they mean; at least one.
        whose: what was matched, such as "image names and files".
    """
    given, meant = next(iter(names.items()))
    shown = f"'{printable(given)}' is '{printable(meant)}'" + (", …" if len(names) > 1 else "")
    return f"{len(names):,} {whose} are spelt differently and were matched ({shown})."
