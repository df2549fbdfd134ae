"""A dataset's pictures: files below a folder, or scenes rendered on the fly."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from PIL import Image

from vse_zoo.data.records import leads_out
from vse_zoo.data.scenes import render, scene_index
from vse_zoo.errors import ImageError, located
from vse_zoo.images import load_image

__all__ = ["open_picture"]


def open_picture(image_source: dict[str, Any], name: str, folder: Path, side: int | None = None) -> Image.Image:
    """The picture ``name`` in RGB.

    Args:
        image_source: ``{"kind": "folder", "root": path}`` or ``{"kind": "scenes", "seed": int}``; of
            ``{"kind": "none"}`` there is no picture to open.
        name: a path below the root, or a scene's name.
        folder: the dataset folder, which a relative root starts from.
        side: as in `vse_zoo.images.load_image`, for files.

    Raises:
        ImageError: the picture can't be read, its name leads out of the root, or the root is no longer there.
    """
    if image_source["kind"] == "none":
        do = "Prepare it again with the folder of its pictures (--images)."
        raise ImageError(located(folder, f"this dataset has features but no pictures, {name!r} neither.", do=do))
    if image_source["kind"] == "scenes":
        return render(image_source["seed"], scene_index(name))
    root = folder / Path(image_source["root"]).expanduser()
    if leads_out(name):
        raise ImageError(located(name, f"the name leads out of the image folder {root}."))
    if not os.path.isdir(root):
        problem = f"its pictures were in {root}, which is no longer there."
        do = "Write into dataset.json where they are now, as image_source.root."
        raise ImageError(located(folder, problem, field="image_source.root", do=do))
    return load_image(root / name, side)
