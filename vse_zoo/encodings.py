"""Text files of any encoding: by their byte-order mark, as UTF-8, or in the encoding that the user names."""

from __future__ import annotations

import codecs
from pathlib import Path
from typing import NamedTuple

from vse_zoo.errors import ConfigError, DataError, located

__all__ = ["ENCODING", "Decoded", "decode_text", "read_text"]

ENCODING = "--encoding"
"""The option of the command line that names an encoding."""

# UTF-32 comes first: its mark begins with that of UTF-16.
_MARKS = {
    codecs.BOM_UTF8: "UTF-8",
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
_UTF8 = "UTF-8"
_UTF16 = ("utf-16-le", "utf-16-be")
# Those that spreadsheets write, common ones first: of several that fit equally well, the first one is named.
_OTHERS = (
    *("windows-1252", "windows-1250", "windows-1251", "windows-1253", "cp932", "gb18030", "big5", "cp949"),
    *("mac-roman", "cp850"),
)
_SAMPLE = 1 << 16
# charset-normalizer's share of improbable characters. A short text of the right encoding has up to so many.
_EQUAL = 0.03


class Decoded(NamedTuple):
    """A text and the encoding that it was read in."""

    text: str
    encoding: str


def read_text(path: Path, encoding: str | None = None, option: str | None = None) -> Decoded:
    """Reads a file; see `decode_text`. A file that is missing or can't be opened is a `DataError` too."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise DataError(located(path, "no such file.")) from None
    except OSError as error:
        raise DataError(located(path, f"can't be read ({error.strerror or type(error).__name__}).")) from None
    return decode_text(path, content, encoding, option)


def decode_text(path: Path, content: bytes, encoding: str | None = None, option: str | None = None) -> Decoded:
    """Decodes text by its byte-order mark; without one as UTF-8; and where it is no UTF-8, in the named encoding.

    Args:
        path: the file, for the message.
        content: its bytes.
        encoding: of text that has no byte-order mark and isn't UTF-8.
        option: where the user can name the encoding, for the message; None where that isn't possible.

    Returns:
        The text without its byte-order mark, and the encoding that it was read in.

    Raises:
        ConfigError: there is no encoding of that name.
        DataError: the bytes aren't text in the encoding. The message says which encoding they look like.
    """
    _check_name(encoding)
    marked = next((name for mark, name in _MARKS.items() if content.startswith(mark)), None)
    chosen = marked or (_UTF8 if encoding is None or _is_utf8(content) else encoding)
    try:
        text = content.decode(chosen)
        # No text holds the character 0; UTF-16 without a mark, read as something else, is full of them.
        place = content.find(0) if "\0" in text else -1
    except UnicodeDecodeError as error:
        place = error.start
    if place >= 0:
        raise DataError(_problem(path, content, place, chosen, None if marked else option))
    return Decoded(text.removeprefix("\ufeff"), chosen)


def _check_name(encoding: str | None) -> None:
    try:
        b"a".decode(_UTF8 if encoding is None else encoding, "ignore")
    except (LookupError, ValueError):  # unknown, of something else than text, or unable to go on after an error
        expected = "expected the name of an encoding of text, such as windows-1252"
        raise ConfigError(f"encoding: found {encoding!r}, {expected}.") from None


def _is_utf8(content: bytes) -> bool:
    """Whether it is UTF-8, and not one of the encodings that write all letters with bytes of ASCII."""
    try:
        content.decode(_UTF8)
    except UnicodeDecodeError:
        return False
    return not any(control in content for control in (b"\0", b"\x1b"))


def _problem(path: Path, content: bytes, place: int, expected: str, option: str | None) -> str:
    line = content[:place].decode(expected, "ignore").count("\n") + 1
    guess = _looks_like(content, place)
    problem = f"found the byte {content[place]:#04x}, expected {expected} text."
    if guess:
        problem += f" It looks like {guess}."
    name = f"Name the encoding with {option} {guess or 'NAME'}, or save" if option else "Save"
    return located(path, problem, line=line, do=f"{name} the file as UTF-8.")


def _looks_like(content: bytes, place: int) -> str | None:
    """The encoding that text probably has, judged from the lines after a byte that isn't UTF-8."""
    from charset_normalizer import from_bytes  # only needed for the message

    wide = 0 in content  # two bytes a character
    candidates = _UTF16 if wide else _OTHERS
    start = 0 if wide else content.rfind(b"\n", 0, place) + 1
    sample = content[start : start + _SAMPLE]
    if not wide and start + _SAMPLE < len(content):
        sample = sample[: sample.rfind(b"\n") + 1] or sample  # no character is cut in two
    fits = {name: match.chaos for name in candidates if (match := from_bytes(sample, cp_isolation=[name]).best())}
    return next((name for name, chaos in fits.items() if chaos <= min(fits.values()) + _EQUAL), None)
