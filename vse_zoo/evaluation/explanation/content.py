"""What an explanation shows, and the pictures that it is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from vse_zoo.evaluation.heat import heat_maps
from vse_zoo.evaluation.pictures import heated, thumbnail
from vse_zoo.models.alignment import Alignment

__all__ = ["Explanation", "numbered_picture", "region_crops", "word_pictures"]

_OUTLINED, _FAINT = 3, 0.3
"""Detected boxes that are drawn over a word's map: those that send it the most, and not next to nothing."""
_INK, _EDGE = (255, 255, 255), (20, 20, 20)


@dataclass(frozen=True, eq=False)
class Explanation:
    """A picture, a caption, and how the model aligned them.

    Args:
        image: the picture, RGB.
        boxes: (R, 4) its regions, relative (x0, y0, x1, y1).
        grid: (rows, columns) if the regions are a grid, None if they were detected.
        caption: as the user wrote it.
        language: the caption's.
        alignment: of R regions and T words.
        known: of each word, whether it is in the model's vocabulary.
        name: what to call the picture; the model: what to call the model.
    """

    image: Image.Image
    boxes: NDArray[np.floating]
    grid: tuple[int, ...] | None
    caption: str
    language: str
    alignment: Alignment
    known: Sequence[bool]
    name: str
    model: str

    @property
    def best(self) -> NDArray[np.int64]:
        """(T,) the region that sends each word the most."""
        return np.argmax(self.alignment.plan, axis=0)

    @property
    def shares(self) -> NDArray[np.float64]:
        """(R, T) what each region sends, as a share of the word's mass: each column sums to 1."""
        plan = np.asarray(self.alignment.plan, np.float64)
        return plan / np.maximum(plan.sum(axis=0, keepdims=True), 1e-12)

    @property
    def levels(self) -> NDArray[np.float64]:
        """(R, T) the plan with its largest entry as 1: what the colours show."""
        plan = np.asarray(self.alignment.plan, np.float64)
        return plan / max(float(plan.max()), 1e-12)


def word_pictures(explanation: Explanation, side: int = 320) -> list[Image.Image]:
    """The picture under each word's map, all in one scale; the boxes that send the word the most are outlined."""
    image = thumbnail(explanation.image, side)
    maps = heat_maps(explanation.levels.T, explanation.boxes, explanation.grid)
    drawn = [heated(image, heat / max(float(maps.max()), 1e-12)) for heat in maps]
    if explanation.grid is None:
        for word, picture in enumerate(drawn):
            level = explanation.levels[:, word]
            most = [region for region in np.argsort(-level, kind="stable")[:_OUTLINED] if level[region] >= _FAINT]
            for region in most[::-1]:
                _outline(picture, explanation.boxes[region], str(region + 1))
    return drawn


def numbered_picture(explanation: Explanation, side: int = 420) -> Image.Image:
    """The picture with its regions outlined and numbered from 1."""
    image = thumbnail(explanation.image, side)
    for number, box in enumerate(explanation.boxes, 1):
        _outline(image, box, str(number), centred=explanation.grid is not None)
    return image


def region_crops(explanation: Explanation, side: int = 40) -> list[Image.Image]:
    """What each region shows."""
    width, height = explanation.image.size
    crops = []
    for x0, y0, x1, y1 in np.asarray(explanation.boxes, np.float64).tolist():
        left, top = min(int(x0 * width), width - 1), min(int(y0 * height), height - 1)
        corners = left, top, max(round(x1 * width), left + 1), max(round(y1 * height), top + 1)
        crops.append(thumbnail(explanation.image.crop(corners), side))
    return crops


def _outline(image: Image.Image, box: NDArray[np.floating], label: str, *, centred: bool = False) -> None:
    """A box and its number, in the middle of a grid's cell or on a tag in the corner of a detected box."""
    draw = ImageDraw.Draw(image)
    x0, y0, x1, y1 = (float(v) * (size - 1) for v, size in zip(box, (*image.size, *image.size), strict=True))
    font = ImageFont.load_default(size=max(10, round(image.width / 28)))
    draw.rectangle((x0, y0, x1, y1), outline=_EDGE if centred else _INK, width=1)
    if centred:
        middle = (x0 + x1) / 2, (y0 + y1) / 2
        draw.text(middle, label, fill=_INK, font=font, anchor="mm", stroke_width=1, stroke_fill=_EDGE)
    else:
        draw.rectangle(draw.textbbox((x0 + 2, y0 + 1), label, font=font, anchor="la"), fill=_EDGE)
        draw.text((x0 + 2, y0 + 1), label, fill=_INK, font=font, anchor="la")
