"""Decides what a caption of a scene says: which objects, in which detail and order, and what about them."""

from __future__ import annotations

from dataclasses import replace

from vse_zoo.data.scenes.draws import Draws
from vse_zoo.data.scenes.meaning import Description, Meaning, Mention
from vse_zoo.data.scenes.world import PLACES, RELATIONS, Scene, SceneObject, at_place, related

__all__ = ["compose"]

ATTRIBUTES = ("shape", "colour", "size", "pattern")
Told = tuple[Mention, tuple[int, ...]]
"""A mention and the numbers of the objects it is about."""


def compose(scene: Scene, draws: Draws) -> tuple[Meaning, list[tuple[int, ...]]]:
    """A true meaning, and for each of its mentions the numbers of the scene's objects that are meant.

    Captions say enough to be told apart among some hundred pictures: a lone mention is detailed and placed, and the
    background is left out only where two or more objects are told.
    """
    groups = _groups(scene.objects, draws)
    if len(groups) > 2 and draws.chance(0.3):
        groups = groups[:-1]
    told = [_told(scene.objects, group, draws, detailed=len(groups) == 1) for group in groups]
    background = scene.background if len(told) == 1 or draws.chance(0.8) else None
    if draws.chance(0.55):
        relation, told = _relate(scene.objects, told, draws)
        if relation is not None:
            return _meaning(told, relation=relation, background=background)
    if len(scene.objects) > 1 and draws.chance(0.3):
        return _meaning(told, total=len(scene.objects), background=background)
    return _meaning([_placed(scene.objects, one, draws, always=len(told) == 1) for one in told], background=background)


def _meaning(
    told: list[Told], relation: str | None = None, background: str | None = None, total: int | None = None
) -> tuple[Meaning, list[tuple[int, ...]]]:
    mentions = tuple(mention for mention, _ in told)
    return Meaning(mentions, relation, background, total), [numbers for _, numbers in told]


def _groups(objects: tuple[SceneObject, ...], draws: Draws) -> list[tuple[int, ...]]:
    """All objects in random order, at most once two or more alike taken together as something to count."""
    order = draws.shuffled(range(len(objects)))
    for attributes, probability in ((("shape", "colour"), 0.85), (("shape",), 0.2), (("colour",), 0.1)):
        for first in order:
            wanted = Description(**{name: getattr(objects[first], name) for name in attributes})
            alike = tuple(number for number in order if wanted.matches(objects[number]))
            if len(alike) > 1 and draws.chance(probability):
                return draws.shuffled([alike, *((number,) for number in order if number not in alike)])
    return [(number,) for number in order]


def _told(objects: tuple[SceneObject, ...], numbers: tuple[int, ...], draws: Draws, detailed: bool) -> Told:
    """A description of one object or of what a group shares."""
    if len(numbers) == 1:
        return Mention(_described(objects[numbers[0]], draws, detailed)), numbers
    things = [objects[number] for number in numbers]
    values = {name: {getattr(thing, name) for thing in things} for name in ATTRIBUTES}
    shared = {name: found.pop() for name, found in values.items() if len(found) == 1}
    told = {name: value for name, value in shared.items() if name in ATTRIBUTES[:2] or detailed or draws.chance(0.5)}
    if told.get("pattern") == "solid" and not detailed:
        del told["pattern"]  # "plain" is said rarely: of lone groups, and of single objects now and then
    description = Description(**told)
    assert sum(map(description.matches, objects)) == len(numbers), "a group holds all objects of its kind"
    return Mention(description, len(numbers)), numbers


def _described(thing: SceneObject, draws: Draws, detailed: bool) -> Description:
    """Nearly always shape and colour; size and pattern now and then, a plain filling rarely."""
    essential = "both" if detailed else draws.choice(("both", "shape", "colour"), weights=(90, 6, 4))
    pattern_told = detailed or draws.chance(0.12 if thing.pattern == "solid" else 0.75)
    return Description(
        shape=None if essential == "colour" else thing.shape,
        colour=None if essential == "shape" else thing.colour,
        size=thing.size if detailed or draws.chance(0.4) else None,
        pattern=thing.pattern if pattern_told else None,
    )


def _relate(objects: tuple[SceneObject, ...], told: list[Told], draws: Draws) -> tuple[str | None, list[Told]]:
    """A relation between two single objects, which come first; unchanged where none holds."""
    singles = [number for number, (mention, _) in enumerate(told) if mention.count == 1]
    pairs = [
        (kind, first, second)
        for kind in RELATIONS
        for first in singles
        for second in singles
        if first != second and related(kind, objects[told[first][1][0]], objects[told[second][1][0]])
    ]
    if not pairs:
        return None, told
    kind, first, second = draws.choice(pairs)
    pair = [told[first], told[second]]
    if draws.chance(0.45) and all(_unique(objects, mention) for mention, _ in pair):
        return kind, [(replace(mention, definite=True), numbers) for mention, numbers in pair]
    return kind, [*pair, *(one for number, one in enumerate(told) if number not in (first, second))]


def _unique(objects: tuple[SceneObject, ...], mention: Mention) -> bool:
    return sum(map(mention.description.matches, objects)) == 1


def _placed(objects: tuple[SceneObject, ...], one: Told, draws: Draws, always: bool) -> Told:
    """The mention with the place of its object, half the time; groups have none."""
    mention, numbers = one
    if mention.count > 1 or not (always or draws.chance(0.5)):
        return one
    return replace(mention, place=next(place for place in PLACES if at_place(place, objects[numbers[0]]))), numbers
