"""What a caption says, apart from its words, and whether that is true of a scene."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, product

from vse_zoo.data.scenes.world import Scene, SceneObject, at_place, related

__all__ = ["Description", "Meaning", "Mention", "fits"]


@dataclass(frozen=True)
class Description:
    """Attributes an object must have; None where nothing is said."""

    shape: str | None = None
    colour: str | None = None
    size: str | None = None
    pattern: str | None = None

    def matches(self, thing: SceneObject) -> bool:
        """Whether ``thing`` has every attribute that is said."""
        return (
            self.shape in (None, thing.shape)
            and self.colour in (None, thing.colour)
            and self.size in (None, thing.size)
            and self.pattern in (None, thing.pattern)
        )


@dataclass(frozen=True)
class Mention:
    """A noun phrase: ``count`` objects of one description.

    "A red star" (count 1) needs at least one; a numeral, as in "two red stars", and the article in "the red star"
    (``definite``) need exactly that many. Only single objects have a ``place``.
    """

    description: Description
    count: int = 1
    definite: bool = False
    place: str | None = None

    @property
    def exact(self) -> bool:
        """Whether the picture must hold no further such objects."""
        return self.definite or self.count > 1


@dataclass(frozen=True)
class Meaning:
    """All that a caption says: its mentions are of different objects.

    ``relation`` holds between the first mention's object and the second's; ``total`` is the number of all objects.
    """

    mentions: tuple[Mention, ...]
    relation: str | None = None
    background: str | None = None
    total: int | None = None


def fits(meaning: Meaning, scene: Scene) -> bool:
    """Whether ``meaning`` is true of ``scene``: some choice of different objects satisfies everything it says."""
    if meaning.background not in (None, scene.background) or meaning.total not in (None, len(scene.objects)):
        return False
    choices = [list(_referents(mention, scene.objects)) for mention in meaning.mentions]
    return any(_disjoint(chosen) and _holds(meaning.relation, chosen, scene) for chosen in product(*choices))


def _referents(mention: Mention, objects: tuple[SceneObject, ...]) -> Iterator[tuple[int, ...]]:
    """The sets of object numbers that a mention can be about."""
    matching = [number for number, thing in enumerate(objects) if mention.description.matches(thing)]
    if mention.exact and len(matching) != mention.count:
        return
    for numbers in combinations(matching, mention.count):
        if mention.place is None or all(at_place(mention.place, objects[number]) for number in numbers):
            yield numbers


def _disjoint(chosen: tuple[tuple[int, ...], ...]) -> bool:
    numbers = [number for numbers in chosen for number in numbers]
    return len(numbers) == len(set(numbers))


def _holds(relation: str | None, chosen: tuple[tuple[int, ...], ...], scene: Scene) -> bool:
    if relation is None:
        return True
    return related(relation, scene.objects[chosen[0][0]], scene.objects[chosen[1][0]])
