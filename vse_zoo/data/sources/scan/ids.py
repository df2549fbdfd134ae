"""The images' ids, from a file with one line an image or one a caption."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from vse_zoo.data.sources.scan.layout import Layout
from vse_zoo.data.tables import lines
from vse_zoo.errors import DataError, located

__all__ = ["image_ids"]


def image_ids(path: Path, layout: Layout, encoding: str | None = None) -> list[str] | None:
    """An id for each image; None if there is no file, or it names each caption and no image.

    Raises:
        DataError: the number of lines fits neither images nor captions, an id stands for two images, or the captions of
            an image have different ids.
    """
    if not path.is_file():
        return None
    ids = [line.strip() for line in lines(path, encoding)]
    captions = layout.images * layout.captions
    if len(ids) not in (layout.images, captions):
        expected = f"{layout.images} (one an image) or {captions} (one a caption)"
        raise DataError(located(path, f"found {len(ids)} lines, expected {expected}."))
    if "" in ids:
        raise DataError(located(path, "found an empty line, expected an id.", row=ids.index("") + 1))
    each = 1 if len(ids) == layout.images else layout.captions
    if each > 1:
        # 1000092795.jpg#0 to #4 are the captions of one image.
        ids = [text.split("#")[0] for text in ids]
        if len(set(ids)) == captions:
            return None
        ids = _of_groups(path, ids, each)
    seen: dict[str, int] = {}
    for row, name in zip(range(1, len(ids) * each + 1, each), ids, strict=True):
        if name in seen:
            problem = f"found {name!r} for two images, first in row {seen[name]}, expected each once."
            raise DataError(located(path, problem, row=row))
        seen[name] = row
    return ids


def _of_groups(path: Path, ids: Sequence[str], size: int) -> list[str]:
    for start in range(0, len(ids), size):
        group = ids[start : start + size]
        if other := next((row for row, name in enumerate(group) if name != group[0]), None):
            problem = f"found {group[other]!r}, expected {group[0]!r} in rows {start + 1} to {start + size}."
            raise DataError(located(path, problem, row=start + other + 1))
    return list(ids[::size])
