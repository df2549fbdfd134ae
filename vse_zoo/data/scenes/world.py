"""What is in a picture: objects with shape, colour, size, pattern and place, on a background."""

from __future__ import annotations

from dataclasses import dataclass

from vse_zoo.data.scenes.draws import Draws

__all__ = [
    "BACKGROUNDS",
    "COLOURS",
    "IMAGE_SIZE",
    "PATTERNS",
    "PLACES",
    "RELATIONS",
    "SHAPES",
    "SIZES",
    "Scene",
    "SceneObject",
    "at_place",
    "related",
    "sample_scene",
    "scene_index",
    "scene_name",
]

IMAGE_SIZE = 224
SHAPES = ("circle", "square", "triangle", "star", "heart", "cross", "ring", "moon", "flower", "diamond")
COLOURS = ("red", "orange", "yellow", "green", "blue", "purple", "pink", "black")
PATTERNS = ("solid", "striped", "dotted")
BACKGROUNDS = ("grass", "sand", "snow", "night", "wood", "water", "bricks", "paper")
SIZES = {"small": (52, 60), "large": (84, 96)}
"""Side in pixels, from and to, always even."""
RELATIONS = ("left", "right", "above", "below", "beside")
PLACES = ("top left", "top right", "bottom left", "bottom right", "top", "bottom", "left", "right", "middle")

MARGIN = 5
GAP = 4


@dataclass(frozen=True)
class SceneObject:
    """One object; ``x``, ``y`` are the left and top of its square of ``side`` pixels."""

    shape: str
    colour: str
    size: str
    pattern: str
    x: int
    y: int
    side: int

    @property
    def centre(self) -> tuple[int, int]:
        """Column and row of the middle, in pixels (sides are even)."""
        return self.x + self.side // 2, self.y + self.side // 2


@dataclass(frozen=True)
class Scene:
    """A picture's content, fully determined by ``seed`` and ``index``."""

    seed: int
    index: int
    background: str
    objects: tuple[SceneObject, ...]


def related(kind: str, first: SceneObject, second: SceneObject) -> bool:
    """Whether ``first`` is ``kind`` (one of `RELATIONS`) of ``second``.

    Left: its square ends before the other's begins and the centres differ more across than down; the rest alike.
    """
    if kind == "right":
        return related("left", second, first)
    if kind == "below":
        return related("above", second, first)
    if kind == "beside":
        return related("left", first, second) or related("left", second, first)
    across = abs(first.centre[0] - second.centre[0])
    down = abs(first.centre[1] - second.centre[1])
    if kind == "left":
        return first.x + first.side <= second.x and across > down
    return first.y + first.side <= second.y and down > across


def at_place(place: str, thing: SceneObject) -> bool:
    """Whether the centre of ``thing`` lies in ``place`` (one of `PLACES`): the outer thirds, or the middle of both."""
    third = IMAGE_SIZE // 3 + 15  # the centres keep clear of the border: these thirds hold about equally many
    columns = {"left": thing.centre[0] < third, "right": thing.centre[0] > IMAGE_SIZE - third}
    rows = {"top": thing.centre[1] < third, "bottom": thing.centre[1] > IMAGE_SIZE - third}
    if place == "middle":
        return not any(columns.values()) and not any(rows.values())
    return all((columns | rows)[word] for word in place.split())


def sample_scene(seed: int, index: int) -> Scene:
    """The scene number ``index`` of the endless series ``seed``."""
    draws = Draws("scene", seed, index)
    background = draws.choice(BACKGROUNDS)
    count = draws.choice((1, 2, 3, 4), weights=(1, 3, 4, 2))
    kinds: list[tuple[str, str]] = []
    for _ in range(count):
        kinds.append(_kind(draws, kinds))
    objects: list[SceneObject] | None = None
    while objects is None:
        objects = _layout(draws, kinds)
    return Scene(seed, index, background, tuple(objects))


def scene_name(index: int) -> str:
    """The image name of scene number ``index``, as in "scene-000012"."""
    return f"scene-{index:06d}"


def scene_index(name: str) -> int:
    """The number in an image name; the inverse of `scene_name`."""
    return int(name.removeprefix("scene-"))


def _kind(draws: Draws, others: list[tuple[str, str]]) -> tuple[str, str]:
    """Shape and colour; now and then shared with an object that is there, so that captions can count."""
    shape, colour = draws.choice(SHAPES), draws.choice(COLOURS)
    if others and draws.chance(0.3):
        other = draws.choice(others)
        shared = draws.choice(("both", "shape", "colour"), weights=(2, 1, 1))
        shape = other[0] if shared != "colour" else shape
        colour = other[1] if shared != "shape" else colour
    return shape, colour


def _layout(draws: Draws, kinds: list[tuple[str, str]]) -> list[SceneObject] | None:
    """Sizes, patterns and free places for all kinds, or None when one of them found no room."""
    placed: list[SceneObject] = []
    for shape, colour in kinds:
        size = draws.choice(tuple(SIZES))
        pattern = draws.choice(PATTERNS, weights=(2, 1, 1))
        side = 2 * draws.integer(SIZES[size][0] // 2, SIZES[size][1] // 2)
        for _ in range(20):
            x, y = (draws.integer(MARGIN, IMAGE_SIZE - MARGIN - side) for _ in range(2))
            if all(_apart(x, y, side, other) for other in placed):
                placed.append(SceneObject(shape, colour, size, pattern, x, y, side))
                break
        else:
            return None
    return placed


def _apart(x: int, y: int, side: int, other: SceneObject) -> bool:
    """Whether a square keeps at least `GAP` pixels from ``other``."""
    across = x + side + GAP <= other.x or other.x + other.side + GAP <= x
    down = y + side + GAP <= other.y or other.y + other.side + GAP <= y
    return across or down
