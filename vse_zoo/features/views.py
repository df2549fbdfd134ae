"""Other views of a picture, for training: mirrored, and parts of it."""

from __future__ import annotations

import numpy as np
from PIL import Image, ImageOps

__all__ = ["picture_view"]

_LEAST_SHARE = 0.5
"""Of the picture's area that a view shows. What a caption names is mostly still there."""


def picture_view(image: Image.Image, index: int, number: int) -> Image.Image:
    """A view of picture ``index``: number 0 is its mirror image, any other a random part, half of them mirrored.

    A part has the picture's aspect ratio and between half and all of its area, at a random place, after the random
    resized crop of Szegedy et al. (CVPR 2015). It depends on ``index`` and ``number`` alone.
    """
    if number == 0:
        return ImageOps.mirror(image)
    random = np.random.default_rng((index, number))
    share = random.uniform(_LEAST_SHARE, 1.0) ** 0.5
    width, height = (max(1, round(side * share)) for side in image.size)
    left = int(random.integers(0, image.width - width + 1))
    top = int(random.integers(0, image.height - height + 1))
    part = image.crop((left, top, left + width, top + height))
    return ImageOps.mirror(part) if random.random() < 0.5 else part
