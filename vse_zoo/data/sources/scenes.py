"""The built-in data set: rendered scenes with English and German captions and phrases linked to boxes."""

from __future__ import annotations

from typing import Annotated

from vse_zoo.data.records import Phrase, Record
from vse_zoo.data.scenes import LANGUAGES, captions, sample_scene, scene_name
from vse_zoo.data.sources import Source, source
from vse_zoo.errors import DataError, located

__all__ = ["read_scenes"]

_STARTS = {"train": 0, "dev": 800_000, "test": 900_000}
"""Each split has its own range of scene numbers: the test pictures stay the same however many are trained on."""
_ENDS = {"train": 800_000, "dev": 900_000, "test": 1_000_000}


@source("scenes")
def read_scenes(
    train: Annotated[int, "Number of training pictures."] = 2000,
    dev: Annotated[int, "Number of development pictures."] = 500,
    test: Annotated[int, "Number of test pictures."] = 500,
    seed: Annotated[int, "Other seeds give other pictures and captions."] = 0,
) -> Source:
    """Rendered scenes, for example: vse-zoo prepare scenes data/scenes --train 2000 --dev 500 --test 500 --seed 0."""
    counts = {"train": train, "dev": dev, "test": test}
    for split, count in counts.items():
        room = _ENDS[split] - _STARTS[split]
        if not 0 <= count <= room:
            raise DataError(located("scenes", f"found {count}, expected 0 to {room} pictures.", field=split))
    records = [
        _record(seed, _STARTS[split] + number, split) for split, count in counts.items() for number in range(count)
    ]
    return Source("scenes", records, {"kind": "scenes", "seed": seed}, tuple(LANGUAGES))


def _record(seed: int, index: int, split: str) -> Record:
    scene = sample_scene(seed, index)
    texts: dict[str, list[str]] = {}
    phrases: list[Phrase] = []
    for language in LANGUAGES:
        described = captions(scene, language)
        texts[language] = [caption.text for caption in described]
        phrases += [
            Phrase(language, number, phrase.start, phrase.end, tuple(phrase.boxes))
            for number, caption in enumerate(described)
            for phrase in caption.phrases
        ]
    return Record(scene_name(index), split, texts, tuple(phrases))
