"""Reads captions back, word by word, with no code of the grammars: what do they claim, and is it so?"""

from __future__ import annotations

import re
from collections import Counter
from itertools import permutations
from typing import NamedTuple

import pytest

from vse_zoo.data.scenes import CAPTIONS_PER_LANGUAGE, Scene, SceneObject, captions, fits, object_box, sample_scene

ENGLISH_PHRASES = {
    "<left>": ["to the left of", "left of"],
    "<right>": ["to the right of", "right of"],
    "<above>": ["above", "over"],
    "<below>": ["below", "under"],
    "<beside>": ["next to", "beside"],
    "<at:top left>": ["in the top left corner", "at the top left"],
    "<at:top right>": ["in the top right corner", "at the top right"],
    "<at:bottom left>": ["in the bottom left corner", "at the bottom left"],
    "<at:bottom right>": ["in the bottom right corner", "at the bottom right"],
    "<at:top>": ["at the top"],
    "<at:bottom>": ["at the bottom"],
    "<at:left>": ["on the left"],
    "<at:right>": ["on the right"],
    "<at:middle>": ["in the middle", "in the centre"],
    "<on:grass>": ["on grass", "on a lawn"],
    "<on:sand>": ["on sand", "on a beach"],
    "<on:snow>": ["in the snow"],
    "<on:night>": ["in the night sky", "at night"],
    "<on:wood>": ["on wood", "on a wooden floor"],
    "<on:water>": ["on water", "on the sea"],
    "<on:bricks>": ["on a brick wall", "in front of a wall"],
    "<on:paper>": ["on paper", "on squared paper"],
    "": ["a picture of", "you can see", "there is", "there are", "among them"],
}
GERMAN_PHRASES = {
    "<left>": ["links von"],
    "<right>": ["rechts von"],
    "<above>": ["über"],
    "<below>": ["unter"],
    "<beside>": ["neben"],
    "<at:top left>": ["oben links", "links oben"],
    "<at:top right>": ["oben rechts", "rechts oben"],
    "<at:bottom left>": ["unten links", "links unten"],
    "<at:bottom right>": ["unten rechts", "rechts unten"],
    "<at:top>": ["oben"],
    "<at:bottom>": ["unten"],
    "<at:left>": ["links"],
    "<at:right>": ["rechts"],
    "<at:middle>": ["in der mitte"],
    "<on:grass>": ["auf gras", "auf einer wiese"],
    "<on:sand>": ["auf sand", "am strand"],
    "<on:snow>": ["im schnee"],
    "<on:night>": ["am nachthimmel", "bei nacht"],
    "<on:wood>": ["auf holz", "auf einem holzboden"],
    "<on:water>": ["auf dem wasser", "auf dem meer"],
    "<on:bricks>": ["an einer mauer", "vor einer mauer"],
    "<on:paper>": ["auf papier", "auf kariertem papier"],
    "<dat>": ["ein bild mit"],
    "<acc>": ["es gibt", "gibt es", "man sieht", "sieht man"],
    "": ["zu sehen", "befindet sich", "befinden sich", "darunter"],
}
ENGLISH_STEMS = {
    "circle": "circle disc", "square": "square", "triangle": "triangle", "star": "star", "heart": "heart",
    "cross": "cross", "ring": "ring", "moon": "moon crescent", "flower": "flower blossom", "diamond": "diamond rhombus",
    "": "shape",
    "red": "red", "orange": "orange", "yellow": "yellow", "green": "green", "blue": "blue", "purple": "purple violet",
    "pink": "pink", "black": "black", "small": "small little", "large": "large big",
    "solid": "plain", "striped": "striped stripe", "dotted": "dotted dot",
}  # fmt: skip
GERMAN_STEMS = {
    "circle": "kreis scheibe", "square": "quadrat", "triangle": "dreieck", "star": "stern", "heart": "herz",
    "cross": "kreuz", "ring": "ring", "moon": "mond sichel", "flower": "blume blüte", "diamond": "raute rhombus rhomb",
    "": "figur",
    "red": "rot", "orange": "orangefarben", "yellow": "gelb", "green": "grün", "blue": "blau", "purple": "violett lila",
    "pink": "rosa", "black": "schwarz", "small": "klein", "large": "groß",
    "solid": "einfarbig", "striped": "gestreift streif", "dotted": "gepunktet punkt",
}  # fmt: skip
NUMBERS = {"two": 2, "three": 3, "four": 4, "zwei": 2, "drei": 3, "vier": 4}
DEFINITE = {"the", "der", "die", "das", "den", "dem"}
INDEFINITE = {"a", "an", "ein", "eine", "einen", "einem", "einer"}
SILENT = {"and", "und", "is", "ist", "sind", "with", "mit"}


class Claim(NamedTuple):
    """One noun phrase: how many, whether no more than that, which attribute values, where, and the words as read."""

    count: int
    exact: bool
    attributes: frozenset[str]
    place: str | None
    words: tuple[str, ...]


class Reading(NamedTuple):
    """All claims of a caption; ``relation`` is (kind, number of its first claim)."""

    claims: list[Claim]
    relation: tuple[str, int] | None
    background: str | None
    total: int | None


def tokens(text: str, language: str) -> list[str]:
    """The caption's words, with known phrases replaced by tags."""
    phrases = ENGLISH_PHRASES if language == "en" else GERMAN_PHRASES
    text = re.sub(r"[.,:]", "", text.lower())
    for phrase, tag in sorted(((p, tag) for tag, ps in phrases.items() for p in ps), key=lambda item: -len(item[0])):
        text = re.sub(rf"\b(?<![<:]){phrase}\b(?![^<]*>)", tag.replace(" ", "_"), text)
    return text.split()


def value_of(word: str, language: str) -> str:
    """The attribute value that an inflected word names."""
    for value, stems in (ENGLISH_STEMS if language == "en" else GERMAN_STEMS).items():
        for stem in stems.split():
            if re.fullmatch(stem + ("(s|es)?" if language == "en" else "(e|en|er|es|em|n)?"), word):
                return value
    raise AssertionError(f"unknown word {word!r}")


def read(text: str, language: str) -> Reading:
    """What a caption claims; raises on any word it can't place."""
    claims: list[Claim] = []
    relation = background = None
    for word in tokens(text, language):
        if word in NUMBERS or word in DEFINITE or word in INDEFINITE:
            claims.append(Claim(NUMBERS.get(word, 1), word not in INDEFINITE, frozenset(), None, (word,)))
        elif word.startswith("<at:"):
            claims[-1] = claims[-1]._replace(place=word[4:-1].replace("_", " "))
        elif word.startswith("<on:"):
            assert background is None
            background = word[4:-1]
        elif word in ("<left>", "<right>", "<above>", "<below>", "<beside>"):
            assert relation is None
            relation = (word[1:-1], len(claims) - 1)
        elif word not in SILENT and not word.startswith("<"):
            last = claims[-1]
            claims[-1] = last._replace(
                attributes=last.attributes | {value_of(word, language)}, words=(*last.words, word)
            )
    total = None
    if claims[0].attributes == {""} and claims[0].count > 1:
        total, claims = claims[0].count, claims[1:]
    return Reading(claims, relation, background, total)


def holds(attributes: frozenset[str], thing: SceneObject) -> bool:
    return attributes - {""} <= {thing.shape, thing.colour, thing.size, thing.pattern}


def placed(place: str | None, thing: SceneObject) -> bool:
    """A looser notion of place than the captions': the right half, or near the middle."""
    across, down = thing.centre[0] - 112, thing.centre[1] - 112
    if place == "middle":
        return abs(across) < 30 and abs(down) < 30
    sides = {"left": -across, "right": across, "top": -down, "bottom": down}
    return place is None or all(sides[word] > 20 for word in place.split())


def relates(kind: str, first: SceneObject, second: SceneObject) -> bool:
    """A looser notion of the relations: the larger distance has the right direction."""
    across, down = second.centre[0] - first.centre[0], second.centre[1] - first.centre[1]
    level = abs(across) > abs(down)
    return {
        "left": level and across > 0,
        "right": level and across < 0,
        "above": not level and down > 0,
        "below": not level and down < 0,
        "beside": level,
    }[kind]


def true_of(reading: Reading, scene: Scene) -> bool:
    """Whether some assignment of different objects makes every claim true (all permutations tried)."""
    if reading.background not in (None, scene.background) or reading.total not in (None, len(scene.objects)):
        return False
    for claim in reading.claims:
        if claim.exact and sum(holds(claim.attributes, thing) for thing in scene.objects) != claim.count:
            return False
    slots = [claim for claim in reading.claims for _ in range(claim.count)]
    for chosen in permutations(scene.objects, len(slots)):
        if not all(holds(s.attributes, t) and placed(s.place, t) for s, t in zip(slots, chosen, strict=True)):
            continue
        if reading.relation is None:
            return True
        kind, number = reading.relation
        start = sum(claim.count for claim in reading.claims[:number])
        if relates(kind, chosen[start], chosen[start + 1]):
            return True
    return False


@pytest.mark.parametrize("language", ["en", "de"])
def test_captions_are_true_of_their_picture(language: str) -> None:
    for seed in range(3):
        for index in range(200):
            scene = sample_scene(seed, index)
            found = captions(scene, language)
            assert len({caption.text for caption in found}) == CAPTIONS_PER_LANGUAGE
            for caption in found:
                assert true_of(read(caption.text, language), scene), f"{caption.text} {scene}"
                assert fits(caption.meaning, scene)


@pytest.mark.parametrize("language", ["en", "de"])
def test_meaning_says_what_the_words_say(language: str) -> None:
    for index in range(300):
        for caption in captions(sample_scene(5, index), language):
            reading, said = read(caption.text, language), caption.meaning
            assert (reading.background, reading.total) == (said.background, said.total)
            assert (reading.relation and reading.relation[0]) == said.relation
            mentions = Counter(
                (
                    mention.count,
                    mention.exact,
                    frozenset(value for value in vars(mention.description).values() if value),
                    mention.place,
                )
                for mention in said.mentions
            )
            assert Counter((c.count, c.exact, c.attributes - {""}, c.place) for c in reading.claims) == mentions


@pytest.mark.parametrize("language", ["en", "de"])
def test_phrases_are_noun_phrases_with_the_boxes_of_matching_objects(language: str) -> None:
    starts = set(NUMBERS) | DEFINITE | INDEFINITE
    for index in range(200):
        scene = sample_scene(7, index)
        boxes = {object_box(thing): thing for thing in scene.objects}
        for caption in captions(scene, language):
            assert len(caption.phrases) == len(caption.meaning.mentions)
            told = [boxes[box] for phrase in caption.phrases for box in phrase.boxes]
            assert len(told) == len(set(told))
            for phrase in caption.phrases:
                words = caption.text[phrase.start : phrase.end]
                assert words.split()[0].lower() in starts
                (claim,) = read(words, language).claims
                assert claim.count == len(phrase.boxes)
                assert all(holds(claim.attributes, boxes[box]) for box in phrase.boxes)


@pytest.mark.parametrize(("language", "limit"), [("en", 110), ("de", 165)])
def test_vocabulary_is_small_and_frequent(language: str, limit: int) -> None:
    texts = [c.text for index in range(1500) for c in captions(sample_scene(0, index), language)]
    words = Counter(word for text in texts for word in re.sub(r"[.,:]", "", text.lower()).split())
    assert len(words) <= limit
    assert min(words.values()) >= 5


def test_captions_do_not_depend_on_earlier_calls() -> None:
    scene = sample_scene(0, 11)
    first = captions(scene, "de")
    captions(scene, "en")
    assert captions(sample_scene(0, 11), "de") == first


def test_an_unknown_word_is_noticed_by_the_reader() -> None:
    with pytest.raises(AssertionError, match="unknown word"):
        read("A red hexagon on grass.", "en")
