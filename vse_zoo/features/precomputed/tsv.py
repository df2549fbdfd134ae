"""Bottom-up-attention TSV files (Anderson et al., 2018): a row an image, boxes and features in base64.

Columns are image_id, image_w, image_h, num_boxes, boxes and features, of little-endian float32. A file may begin with
a header; without one, six columns are these and ten are LXMERT's (Tan and Bansal, 2019), whose height comes first.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np

from vse_zoo.errors import DataError, located
from vse_zoo.features.precomputed.entries import Entry, ImageRegions, Place, image_regions
from vse_zoo.progress import progress

__all__ = ["is_tsv", "parse_row", "tsv_entries"]

ANDERSON = ("image_id", "image_w", "image_h", "num_boxes", "boxes", "features")
_LXMERT = ("image_id", "image_h", "image_w", "objects_id", "objects_conf", "attrs_id", "attrs_conf", *ANDERSON[3:])
_SHORT = {"img_id": "image_id", "img_w": "image_w", "img_h": "image_h"}
_EXCHANGED = {"image_w": "image_h", "image_h": "image_w"}
_NEEDED = ("image_id", "num_boxes", "features")
_LONGEST_LINE = 1 << 26
_LOOKED_AT = 32
_NAME = re.compile(r"\.tsv(\.\d+)?$", re.IGNORECASE)


def is_tsv(path: Path) -> bool:
    """Whether the name is that of a TSV file, or of a part of one, such as ``trainval.tsv.0``."""
    return bool(_NAME.search(path.name))


def tsv_entries(path: Path, fields: Sequence[str] | None = None, boxes: bool = True) -> Iterator[Entry]:
    """The rows of a file, none of them decoded yet; row numbers begin at 1, the header included.

    Args:
        path: the file.
        fields: its columns, where it has neither a header nor one of the known orders.
        boxes: read them too.

    Raises:
        DataError: the columns can't be known.
    """
    fields, header = _columns(path, fields)
    with progress(f"Finding rows in {path.name}", path.stat().st_size) as bar:
        for row, offset, line in _lines(path):
            bar.advance(len(line))
            if (row == 1 and header) or not line.strip():
                continue
            place = Place(path, row)
            cells = line.rstrip(b"\r\n").split(b"\t", fields.index("image_id") + 1)
            image = cells[fields.index("image_id")] if len(cells) > fields.index("image_id") else b""
            read = partial(_read, place, offset, len(line), fields, boxes)
            yield Entry(image.decode("utf-8", "replace").strip(), place, read)


def parse_row(place: Place, line: bytes, fields: Sequence[str], boxes: bool = True) -> ImageRegions:
    """The regions in one line; a `DataError` names the field that is damaged."""
    cells = line.rstrip(b"\r\n").split(b"\t")
    if len(cells) != len(fields):
        problem = f"found {len(cells)} columns, expected {len(fields)}: {', '.join(fields)}."
        raise place.error(problem, do="The file may be cut off.")
    values = dict(zip(fields, cells, strict=True))
    count = _number(place, values, "num_boxes")
    if not count:
        raise place.error("found zero boxes, expected at least one.", "num_boxes")
    features = _floats(place, values, "features", count)
    if not boxes or "boxes" not in values:
        return image_regions(place, features)
    corners = _floats(place, values, "boxes", count)
    if corners.shape[1] != 4:
        problem = f"found {corners.size} numbers, expected {4 * count} of {count} boxes."
        raise place.error(problem, "boxes")
    size = (_number(place, values, "image_w"), _number(place, values, "image_h")) if "image_w" in values else None
    return image_regions(place, features, corners, size)


def _read(place: Place, offset: int, length: int, fields: Sequence[str], boxes: bool) -> ImageRegions:
    with place.path.open("rb") as file:
        file.seek(offset)
        return parse_row(place, file.read(length), fields, boxes)


def _number(place: Place, values: dict[str, bytes], field: str) -> int:
    text = values[field].strip()
    if not text.isdigit() or len(text) > 9:
        raise place.error(f"found {_shown(text)}, expected a whole number.", field)
    return int(text)


def _floats(place: Place, values: dict[str, bytes], field: str, count: int) -> np.ndarray:
    """(count, …) float32."""
    try:
        decoded = base64.b64decode(values[field], validate=True)
    except binascii.Error as error:
        raise place.error(f"found {_shown(values[field])}, expected base64 ({error}).", field) from None
    if not decoded or len(decoded) % (4 * count):
        problem = f"found {len(decoded)} bytes, expected float32 numbers of num_boxes = {count} boxes."
        raise place.error(problem, field)
    return np.frombuffer(decoded, "<f4").reshape(count, -1)


def _lines(path: Path) -> Iterator[tuple[int, int, bytes]]:
    """(number from 1, offset, bytes) of every line."""
    offset = 0
    with path.open("rb") as file:
        for row, line in enumerate(iter(partial(file.readline, _LONGEST_LINE), b""), 1):
            if len(line) == _LONGEST_LINE:
                problem = f"found a line of {_LONGEST_LINE} bytes or more, expected a row an image."
                raise DataError(located(path, problem, row=row))
            yield row, offset, line
            offset += len(line)


def _columns(path: Path, given: Sequence[str] | None) -> tuple[Sequence[str], bool]:
    """The names of the columns, and whether the first line gives them."""
    if not path.is_file():
        raise DataError(located(path, "no such file."))
    sample = [line for _, _, line in islice(_lines(path), _LOOKED_AT)]
    first = [_SHORT.get(name, name) for name in _cells(sample[0])] if sample else []
    header = "image_id" in first
    if header and given:
        raise DataError(located(path, "found a header, and --fields.", row=1, do="Leave --fields away."))
    known = {len(order): order for order in (ANDERSON, _LXMERT)}
    names = first if header else [_SHORT.get(name, name) for name in given] if given else known.get(len(first), ())
    missing = [name for name in _NEEDED if name not in names]
    if missing or len(set(names)) < len(names) or ("image_w" in names) != ("image_h" in names):
        found = f"found the columns {', '.join(names)}" if names else f"found {len(first)} columns without a header"
        do = "Name the columns with --fields, such as image_id,image_h,image_w,num_boxes,boxes,features."
        raise DataError(located(path, f"{found}, expected {', '.join(ANDERSON)}, each once.", row=1, do=do))
    return (names if header or given else _in_order(path, names, sample)), header


def _in_order(path: Path, fields: Sequence[str], sample: list[bytes]) -> Sequence[str]:
    """The columns, width and height exchanged where the boxes of most pictures fit only so."""
    exchanged = [_EXCHANGED.get(name, name) for name in fields]
    fits = [(_fits(path, line, fields), _fits(path, line, exchanged)) for line in sample]
    only_exchanged = fits.count((False, True))
    return exchanged if only_exchanged > len(fits) // 2 and (True, False) not in fits else fields


def _fits(path: Path, line: bytes, fields: Sequence[str]) -> bool:
    try:
        parse_row(Place(path), line, fields)
    except DataError:
        return False
    return True


def _cells(line: bytes) -> list[str]:
    return [cell.decode("utf-8", "replace").strip() for cell in line.removeprefix(b"\xef\xbb\xbf").split(b"\t")]


def _shown(text: bytes) -> str:
    return repr(text[:20].decode("utf-8", "replace")) + ("…" if len(text) > 20 else "")
