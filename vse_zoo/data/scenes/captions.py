"""Five captions of a scene in a language, each with its meaning and with its noun phrases linked to boxes."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from vse_zoo.data.scenes import english, german
from vse_zoo.data.scenes.compose import compose
from vse_zoo.data.scenes.draws import Draws
from vse_zoo.data.scenes.meaning import Meaning
from vse_zoo.data.scenes.rendering import object_box
from vse_zoo.data.scenes.text import Span
from vse_zoo.data.scenes.world import Scene

__all__ = ["CAPTIONS_PER_LANGUAGE", "LANGUAGES", "SceneCaption", "ScenePhrase", "captions"]

CAPTIONS_PER_LANGUAGE = 5
LANGUAGES: dict[str, Callable[[Meaning, Draws], tuple[str, list[Span]]]] = {
    "en": english.realise,
    "de": german.realise,
}


class ScenePhrase(NamedTuple):
    """Characters ``start`` up to ``end`` of a caption, and the boxes (x0, y0, x1, y1, relative) of what they name."""

    start: int
    end: int
    boxes: list[tuple[float, float, float, float]]


class SceneCaption(NamedTuple):
    """A sentence, what it says, and its phrases."""

    text: str
    meaning: Meaning
    phrases: list[ScenePhrase]


def captions(scene: Scene, language: str) -> list[SceneCaption]:
    """Five different captions of ``scene`` in ``language`` ("en", "de"), each describing the scene anew."""
    draws = Draws("captions", language, scene.seed, scene.index)
    found: dict[str, SceneCaption] = {}
    while len(found) < CAPTIONS_PER_LANGUAGE:
        meaning, meant = compose(scene, draws)
        text, spans = LANGUAGES[language](meaning, draws)
        boxes = [[object_box(scene.objects[number]) for number in numbers] for numbers in meant]
        phrases = [ScenePhrase(span.start, span.end, boxes[span.mention]) for span in spans]
        found.setdefault(text, SceneCaption(text, meaning, phrases))
    return list(found.values())
