"""Pictures: golden bytes, and boxes against the pixels that an object changes."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from vse_zoo.data.scenes import IMAGE_SIZE, captions, object_box, render, render_scene, sample_scene
from vse_zoo.data.scenes.draws import Draws
from vse_zoo.data.scenes.shapes import masks
from vse_zoo.data.scenes.world import (
    BACKGROUNDS,
    COLOURS,
    PATTERNS,
    PLACES,
    RELATIONS,
    SHAPES,
    SceneObject,
    at_place,
    related,
)

GOLDEN_PIXELS = {
    (0, 0): "c0c74581d5f9268b6f49552a51bf25c446c8835d2beeadb14a9e7db464eb77aa",
    (0, 900000): "7494a2627be25254986c69a0d6642f9d2c26f6321f779c627f35187558b12198",
    (123, 7): "05aa61f2f02ba7f1c1f5d013ca2e50c8595c87ef28dff9e072be1aeac7bfd2a7",
}
GOLDEN_CAPTIONS = {
    (0, 0): "be8822ffa993ea24d687883a350393cfe88276156477e4d8abe880bbda6028c6",
    (0, 900000): "6cd9c8012afb570cf4e188fc9a61c059742de719c6bf77d2510c6f2c5bda2e56",
    (123, 7): "14424f758a29288f97ff84cb40d01616559ceacf12f83b51579cc59e6c04a968",
}
GOLDEN_SHEET = "ea590c323100a1f312c395bb36c9d82ffec12af8f00d6021eed66b731599f469"
GOLDEN_DRAWS = [22, 55, 81, 93, 13, 16]


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize(("seed", "index"), GOLDEN_PIXELS)
def test_pixels_are_the_same_on_every_machine(seed: int, index: int) -> None:
    image = render(seed, index)
    assert (image.mode, image.size) == ("RGB", (224, 224))
    assert sha256(image.tobytes()) == GOLDEN_PIXELS[seed, index]


@pytest.mark.parametrize(("seed", "index"), GOLDEN_CAPTIONS)
def test_captions_are_the_same_on_every_machine(seed: int, index: int) -> None:
    scene = sample_scene(seed, index)
    lines = [
        repr((c.text, [tuple(p) for p in c.phrases])) for language in ("en", "de") for c in captions(scene, language)
    ]
    assert sha256("\n".join(lines).encode()) == GOLDEN_CAPTIONS[seed, index]


def test_all_backgrounds_shapes_colours_and_patterns_have_golden_pixels() -> None:
    scenes = [sample_scene(0, index) for index in range(60)]
    things = [thing for scene in scenes for thing in scene.objects]
    assert {scene.background for scene in scenes} == set(BACKGROUNDS)
    assert {thing.shape for thing in things} == set(SHAPES)
    assert {thing.colour for thing in things} == set(COLOURS)
    assert {thing.pattern for thing in things} == set(PATTERNS)
    digest = hashlib.sha256()
    for scene in scenes:
        digest.update(render_scene(scene).tobytes())
    assert digest.hexdigest() == GOLDEN_SHEET


def test_draws_are_pythons_mersenne_twister_and_fair() -> None:
    draws = Draws("scene", 0, 1)
    assert [draws.integer(0, 99) for _ in range(6)] == GOLDEN_DRAWS
    values = [draws.choice("abc", weights=(1, 2, 1)) for _ in range(4000)]
    assert abs(values.count("b") - 2000) < 150
    orders = {tuple(draws.shuffled((1, 2, 3))) for _ in range(200)}
    assert len(orders) == 6


def test_boxes_hold_exactly_the_pixels_of_their_object() -> None:
    for index in range(60):
        scene = sample_scene(2, index)
        full = np.asarray(render_scene(scene)).astype(int)
        last = scene.objects[-1]
        bare = np.asarray(render_scene(replace(scene, objects=scene.objects[:-1]))).astype(int)
        rows, columns = np.nonzero(np.abs(full - bare).sum(axis=2))
        found = (columns.min(), rows.min(), columns.max() + 1, rows.max() + 1)
        np.testing.assert_allclose(np.array(object_box(last)) * IMAGE_SIZE, found, atol=1.1)


def test_objects_are_inside_and_apart() -> None:
    for index in range(500):
        things = sample_scene(4, index).objects
        assert 1 <= len(things) <= 4
        assert all(min(t.x, t.y) >= 0 and max(t.x, t.y) + t.side <= IMAGE_SIZE for t in things)
        for a, b in combinations(things, 2):
            taken = np.zeros((IMAGE_SIZE, IMAGE_SIZE), int)
            for thing in (a, b):
                taken[thing.y : thing.y + thing.side, thing.x : thing.x + thing.side] += 1
            assert taken.max() == 1


@pytest.mark.parametrize(
    ("shape", "area"),
    [
        ("circle", np.pi * 0.97**2 / 4),
        ("square", 0.81),
        ("cross", (2 * 2 * 0.66 - 0.66**2) / 4),
        ("ring", np.pi * (1 - 0.52**2) / 4),
    ],
)
def test_areas_equal_the_geometrical_ones(shape: str, area: float) -> None:
    mask = np.asarray(masks(shape, "solid", 96)[0]) / 255
    assert mask.mean() == pytest.approx(area, abs=0.006)


def test_relations_are_consistent_and_exclusive() -> None:
    opposite = {"left": "right", "right": "left", "above": "below", "below": "above", "beside": "beside"}
    for index in range(300):
        for a, b in combinations(sample_scene(6, index).objects, 2):
            assert all(related(kind, a, b) == related(opposite[kind], b, a) for kind in RELATIONS)
            assert sum(related(kind, a, b) for kind in ("left", "right", "above", "below")) <= 1


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [(5, 5, {"top left", "top", "left"}), (166, 86, {"right"}), (86, 86, {"middle"}), (86, 166, {"bottom"})],
)
def test_places(x: int, y: int, expected: set[str]) -> None:
    thing = SceneObject("star", "red", "small", "solid", x, y, 52)
    assert {place for place in PLACES if at_place(place, thing)} == expected
