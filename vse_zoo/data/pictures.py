"""A dataset's pictures: files below a folder, or scenes rendered on the fly."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PIL import Image

from vse_zoo.errors import DataError, ImageError, located
from vse_zoo.images import load_image

__all__ = ["open_picture"]


def open_picture(image_source: dict[str, Any], name: str) -> Image.Image:
    """The picture ``name`` in RGB.

    Args:
        image_source: ``{"kind": "folder", "root": path}`` or ``{"kind": "scenes", "seed": int}``.
        name: a path below the root, or "scene-<number>".

    Raises:
        ImageError: the picture can't be read.
        DataError: the source's kind is unknown.
    """
    kind = image_source.get("kind")
    if kind == "scenes":
        from vse_zoo.data import scenes

        return scenes.render(int(image_source["seed"]), int(name.rsplit("-", 1)[1]))
    if kind != "folder":
        raise DataError(f"image_source: found kind {kind!r}, expected 'folder' or 'scenes'.")
    root = Path(image_source["root"]).expanduser()
    path = root / name
    if not path.resolve().is_relative_to(root.resolve()):
        raise ImageError(located(name, f"the name leads out of the image folder {root}."))
    return load_image(path)
