"""From a scene to its picture: a texture, and on it the objects with outline, fill and pattern."""

from __future__ import annotations

from PIL import Image

from vse_zoo.data.scenes.draws import Draws
from vse_zoo.data.scenes.shapes import masks, tight_box
from vse_zoo.data.scenes.textures import EXTRA, texture
from vse_zoo.data.scenes.world import IMAGE_SIZE, Scene, SceneObject, sample_scene

__all__ = ["object_box", "render", "render_scene"]

Colour = tuple[int, int, int]

LIGHT: Colour = (255, 255, 255)
RGB: dict[str, Colour] = {
    "red": (222, 28, 36),
    "orange": (255, 128, 0),
    "yellow": (255, 222, 20),
    "green": (0, 170, 60),
    "blue": (0, 90, 255),
    "purple": (140, 30, 180),
    "pink": (255, 120, 190),
    "black": (16, 16, 18),
}
"""Eight colours, outlined in a darker shade of each: ImageNet features confuse more colours, and black outlines."""


def render(seed: int, index: int) -> Image.Image:
    """The picture number ``index`` of series ``seed``: mode RGB, 224 × 224, the same bytes on every machine."""
    return render_scene(sample_scene(seed, index))


def render_scene(scene: Scene) -> Image.Image:
    """The picture of ``scene``; what no caption speaks of (texture, shades) is drawn from its seed and index."""
    draws = Draws("render", scene.seed, scene.index)
    left, top = draws.integer(0, EXTRA - 1), draws.integer(0, EXTRA - 1)
    image = Image.fromarray(texture(scene.background)[top : top + IMAGE_SIZE, left : left + IMAGE_SIZE])
    for thing in scene.objects:
        _paint(image, thing, shade=draws.integer(-10, 10))
    return image


def object_box(thing: SceneObject) -> tuple[float, float, float, float]:
    """x0, y0, x1, y1 of the drawn shape, relative to the picture."""
    left, top, right, bottom = tight_box(thing.shape, thing.side)
    pixels = (thing.x + left, thing.y + top, thing.x + right, thing.y + bottom)
    x0, y0, x1, y1 = (round(value / IMAGE_SIZE, 4) for value in pixels)
    return x0, y0, x1, y1


def _paint(image: Image.Image, thing: SceneObject, shade: int) -> None:
    """Outline, fill and marks. Black things are outlined in white, to be seen at night."""
    whole, inner, marks = masks(thing.shape, thing.pattern, thing.side)
    red, green, blue = RGB[thing.colour]
    outline = LIGHT if thing.colour == "black" else (red * 55 // 100, green * 55 // 100, blue * 55 // 100)
    red, green, blue = (min(255, max(0, value + shade)) for value in (red, green, blue))
    image.paste(outline, (thing.x, thing.y), whole)
    image.paste((red, green, blue), (thing.x, thing.y), inner)
    image.paste(LIGHT, (thing.x, thing.y), marks)
