"""The ceiling against brute force on small worlds."""

from __future__ import annotations

from itertools import product

import pytest

from vse_zoo.data.scenes import (
    Ceiling,
    Description,
    Meaning,
    Mention,
    Scene,
    SceneObject,
    captions,
    ceiling,
    ceiling_of,
    fits,
    sample_scene,
)


def thing(
    shape: str, colour: str, x: int = 10, y: int = 10, size: str = "small", pattern: str = "solid"
) -> SceneObject:
    return SceneObject(shape, colour, size, pattern, x, y, 52)


def said(*shapes: str, background: str | None = None, relation: str | None = None, total: int | None = None) -> Meaning:
    return Meaning(tuple(Mention(Description(shape)) for shape in shapes), relation, background, total)


STAR_LEFT = Scene(0, 0, "snow", (thing("star", "red", 10, 80), thing("ring", "blue", 120, 80)))
STAR_RIGHT = Scene(0, 1, "snow", (thing("star", "red", 120, 80), thing("ring", "blue", 10, 80)))
TWO_STARS = Scene(0, 2, "sand", (thing("star", "red", 10, 80), thing("star", "green", 120, 80)))


def test_ceiling_of_a_world_counted_by_hand() -> None:
    meanings = [
        [said("star", "ring"), said("star", background="snow")],  # each fits the first two: 1/2, 1/2
        [said("ring", "star", relation="left"), said("star")],  # only its own: 1; all three: 1/3
        [said("star"), said("star", background="sand")],  # 1/3, 1
    ]
    found = ceiling_of([STAR_LEFT, STAR_RIGHT, TWO_STARS], meanings)
    assert found.unique == pytest.approx(2 / 6)
    assert found.text_to_image == pytest.approx((1 / 2 + 1 / 2 + 1 + 1 / 3 + 1 / 3 + 1) / 6)
    # The first picture's best caption is shared with the second; the others have one that is theirs alone.
    assert found.image_to_text == pytest.approx((1 / 2 + 1 + 1) / 3)


def test_equal_pictures_share_the_hits_and_different_ones_do_not() -> None:
    twins = [STAR_LEFT, Scene(0, 1, "snow", STAR_LEFT.objects)]
    assert ceiling_of(twins, [[said("star")], [said("ring")]]) == Ceiling(0.0, 0.5, 0.5)
    assert ceiling_of([STAR_LEFT, TWO_STARS], [[said("ring")], [said("star", "star")]]) == Ceiling(1.0, 1.0, 1.0)


@pytest.mark.parametrize(
    ("meaning", "scene", "expected"),
    [
        (said("star", "star"), STAR_LEFT, False),  # two mentions, two objects
        (said("star", "star"), TWO_STARS, True),
        (said("star", "ring", relation="left"), STAR_LEFT, True),
        (said("star", "ring", relation="left"), STAR_RIGHT, False),
        (said("star", "ring", relation="beside"), STAR_RIGHT, True),
        (said("star", "ring", relation="above"), STAR_LEFT, False),
        (said("star", total=2), TWO_STARS, True),
        (said("star", total=3), TWO_STARS, False),
        (Meaning((Mention(Description("star"), count=2),)), TWO_STARS, True),
        (Meaning((Mention(Description("star"), count=2),)), STAR_LEFT, False),
        (Meaning((Mention(Description("star"), definite=True),)), STAR_LEFT, True),
        (Meaning((Mention(Description("star"), definite=True),)), TWO_STARS, False),
        (Meaning((Mention(Description("star"), place="left"),)), STAR_LEFT, True),
        (Meaning((Mention(Description("star"), place="left"),)), STAR_RIGHT, False),
        (Meaning((Mention(Description(colour="blue", size="large")),)), STAR_LEFT, False),
    ],
)
def test_truth(meaning: Meaning, scene: Scene, expected: bool) -> None:
    assert fits(meaning, scene) is expected


def naive(scenes: list[Scene], meanings: list[list[Meaning]]) -> tuple[float, float, float]:
    """Every caption against every picture, with no index; then the expected hits, picture by picture."""
    flat = [(row, meaning) for row, of_one in enumerate(meanings) for meaning in of_one]
    fitting = {(c, row): fits(flat[c][1], scenes[row]) for c, row in product(range(len(flat)), range(len(scenes)))}
    counts = [sum(fitting[c, row] for row in range(len(scenes))) for c in range(len(flat))]
    best = [max(1 / counts[c] for c in range(len(flat)) if fitting[c, row]) for row in range(len(scenes))]
    shares = [1 / count for count in counts]
    return sum(count == 1 for count in counts) / len(flat), sum(shares) / len(shares), sum(best) / len(best)


@pytest.mark.parametrize("language", ["en", "de"])
def test_ceiling_equals_brute_force(language: str) -> None:
    # Captions of single words only are ambiguous in many ways; those of the grammar are added.
    scenes = [sample_scene(1, index) for index in range(60)]
    vague = [
        [said(scene.objects[0].shape), said(scene.objects[-1].shape, background=scene.background)] for scene in scenes
    ]
    full = [[caption.meaning for caption in captions(scene, language)] for scene in scenes]
    for meanings in (vague, full):
        found = ceiling_of(scenes, meanings)
        assert (found.unique, found.text_to_image, found.image_to_text) == pytest.approx(naive(scenes, meanings))
    assert ceiling(scenes, language) == ceiling_of(scenes, full)


@pytest.mark.parametrize("language", ["en", "de"])
def test_captions_tell_500_pictures_apart(language: str) -> None:
    found = ceiling([sample_scene(0, 900_000 + index) for index in range(500)], language)
    assert found.unique > 0.95
    assert 0.97 < found.text_to_image < 1
    assert 0.98 < found.image_to_text <= 1
