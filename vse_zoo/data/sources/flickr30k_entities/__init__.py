"""Flickr30k Entities (Plummer et al., ICCV 2015): Flickr30k's captions, their phrases linked to boxes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

from vse_zoo.data.records import Box, Phrase, Record
from vse_zoo.data.sources import Encoding, Source, source
from vse_zoo.data.sources.flickr30k_entities.boxes import read_boxes
from vse_zoo.data.sources.flickr30k_entities.sentences import Sentence, parse_sentence
from vse_zoo.data.sources.published import Captions, image_source, photo_files
from vse_zoo.data.tables import lines
from vse_zoo.errors import DataError, located
from vse_zoo.progress import progress

__all__ = ["read_flickr30k_entities"]

_SPLITS = {"train": "train", "val": "dev", "test": "test"}


@source("flickr30k_entities")
def read_flickr30k_entities(
    folder: Annotated[Path, "Folder of Sentences/, Annotations/, train.txt, val.txt and test.txt."],
    images: Annotated[Path | None, "Folder of the photos; without it the captions are read alone."] = None,
    encoding: Encoding = None,
) -> Source:
    """Flickr30k with phrases and boxes; a phrase's type (people, clothing, …) isn't kept.

    Example: vse-zoo prepare flickr30k_entities data/flickr30k --folder flickr30k_entities --images flickr30k-images
    """
    root = image_source(images)
    splits = _listed(folder, encoding)
    photos, respelt = photo_files((f"{key}.jpg" for key in splits), images)
    captions, records, unnamed = Captions(), [], 0
    with progress("Reading captions and boxes", len(splits)) as bar:
        for key, split in splits.items():
            path = folder / "Sentences" / f"{key}.txt"
            sentences = [parse_sentence(path, row, line) for row, line in enumerate(lines(path, encoding), 1)]
            unnamed += sum(sentence.unnamed for sentence in sentences)
            texts = captions.of(f"{key}.jpg", (sentence.text for sentence in sentences))
            phrases = _phrases(sentences, read_boxes(folder / "Annotations" / f"{key}.xml"))
            if texts:
                records.append(Record(photos[f"{key}.jpg"], split, {"en": texts}, phrases))
            bar.advance()
    notes = [*respelt, *captions.notes]
    if unnamed:
        notes.append(f"{unnamed} phrases have no words and are left out.")
    return Source("flickr30k_entities", records, root, ("en",), (*notes, _boxless(records)))


def _listed(folder: Path, encoding: str | None) -> dict[str, str]:
    """The split of each image id, in the order of the lists; files of all of them must be there."""
    splits: dict[str, str] = {}
    missing = []
    for name, split in _SPLITS.items():
        path = folder / f"{name}.txt"
        for row, line in enumerate(lines(path, encoding), 1):
            key = line.strip()
            if not key:
                continue
            if not re.fullmatch(r"[\w-]+", key):
                raise DataError(located(path, f"found {key!r}, expected an image id such as 1000092795.", row=row))
            if key in splits:
                raise DataError(located(path, f"the image {key!r} is in a list already.", row=row))
            splits[key] = split
            files = (folder / "Sentences" / f"{key}.txt", folder / "Annotations" / f"{key}.xml")
            missing += [(path, row, key, file) for file in files if not file.is_file()]
    if missing:
        path, row, key, file = missing[0]
        count = len({key for _, _, key, _ in missing})
        problem = f"there is no file {file}; {count} of the {len(splits)} images listed lack a file."
        raise DataError(located(path, problem, row=row, do="Unpack annotations.zip again, or list the others only."))
    return splits


def _phrases(sentences: list[Sentence], boxes: dict[str, tuple[Box, ...]]) -> tuple[Phrase, ...]:
    """The phrases of the sentences that have a text, which are counted as the captions are."""
    written = [sentence for sentence in sentences if sentence.text]
    return tuple(
        Phrase("en", number, start, end, boxes.get(chain, ()))
        for number, sentence in enumerate(written)
        for chain, start, end in sentence.phrases
    )


def _boxless(records: list[Record]) -> str:
    phrases = [phrase for record in records for phrase in record.phrases]
    without = sum(not phrase.boxes for phrase in phrases)
    return f"{without} of {len(phrases)} phrases have no box: scenes, and what can't be seen."
