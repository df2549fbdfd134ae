"""Multi30K (Elliott et al., 2016): translations (task 1) and independent descriptions (task 2) of Flickr30k photos.

Papers on retrieval use task 2: 29,000 images to train on, 1,014 dev and 1,000 test images (those of 2016), with five
descriptions in English and five in German. The test images of later years are splits of their own.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from vse_zoo.data.dataset import Dataset
from vse_zoo.data.overlaps import flickr_id, overlap_notes
from vse_zoo.data.records import Record
from vse_zoo.data.sources import Encoding, Source, source
from vse_zoo.data.tables import lines, split_lines
from vse_zoo.encodings import ENCODING, decode_text
from vse_zoo.errors import DataError, located

__all__ = ["add_descriptions", "descriptions", "read_multi30k"]

_TEXT = re.compile(r"(?P<part>\w+)\.(?:(?P<number>\d+)\.)?(?P<language>[a-z]{2})(?:\.gz)?")
_LISTS = {1: "{part}.txt", 2: "{part}_images.txt"}
_PHOTOS = {".jpg", ".jpeg", ".png"}
_SPLITS = {"train": "train", "val": "dev", "test_2016": "test", "test_2016_flickr": "test"}
_PUBLISHED = {"train": 29_000, "dev": 1_014, "test": 1_000}


@source("multi30k")
def read_multi30k(
    texts: Annotated[Path, "Multi30K folder, the one that holds task1 and task2."],
    images: Annotated[Path | None, "Folder of the photos, joined by the Flickr id in their names."] = None,
    dataset: Annotated[Path | None, "Or a prepared dataset: Multi30K's languages are added to its images."] = None,
    task: Annotated[int, "1: one translation an image; 2: five descriptions an image and language."] = 2,
    languages: Annotated[str, "Languages to read, separated by commas."] = "en,de",
    encoding: Encoding = None,
) -> Source:
    """Multi30K with photos at hand.

    Example: vse-zoo prepare multi30k data/m30k --texts multi30k --images flickr30k-images
    """
    wanted = tuple(dict.fromkeys(language.strip() for language in languages.split(",") if language.strip()))
    if not wanted:
        raise DataError(f"languages: found {languages!r}, expected names such as en,de.")
    if (images is None) == (dataset is None):
        raise DataError("images, dataset: expected one of the two, to know which photos there are.")
    if dataset is not None:
        return _with_dataset(Dataset(dataset), texts, task, wanted, encoding)
    assert images is not None
    return _with_photos(descriptions(texts, task, wanted, encoding), images, wanted)


def _with_dataset(existing: Dataset, texts: Path, task: int, wanted: Sequence[str], encoding: str | None) -> Source:
    new = tuple(language for language in wanted if language not in existing.languages)
    if not new:
        problem = f"has captions in {', '.join(wanted)} already."
        raise DataError(located(existing.path, problem, field="languages", do="Name a language to add."))
    found = descriptions(texts, task, new, encoding)
    records, added = add_descriptions(existing.records, found)
    if not added:
        raise DataError(located(existing.path, "no image has a Flickr id of Multi30K.", do="Prepare flickr8k first."))
    notes = [f"{added} of {len(records)} images have descriptions in: {', '.join(new)}."]
    notes += overlap_notes(records, found, "Multi30K")
    return Source(existing.name, records, existing.image_source, (*existing.languages, *new), tuple(notes))


def _with_photos(found: dict[str, Record], images: Path, languages: tuple[str, ...]) -> Source:
    if not images.is_dir():
        raise DataError(located(images, "no such folder.", field="images"))
    photos = sorted(path.name for path in images.iterdir() if path.suffix.lower() in _PHOTOS)
    files = {flickr_id(name): name for name in photos}
    records = [replace(record, image=files[key]) for key, record in found.items() if key in files]
    if not records:
        do = "Expected names such as 1000092795.jpg."
        raise DataError(located(images, "no photo has a Flickr id of Multi30K.", do=do))
    notes = [_sizes(records, languages)]
    if without := len(found) - len(records):
        notes.append(f"{without} of {len(found)} described images have no photo in {images.name} and are left out.")
    if differing := _differing(records):
        why = "published figures don't compare, those of a smaller test split are higher"
        notes.append(f"Not the images of the published protocol ({differing}): {why}.")
    return Source("multi30k", records, {"kind": "folder", "root": str(images.resolve())}, languages, tuple(notes))


def _sizes(records: Sequence[Record], languages: Sequence[str]) -> str:
    """What each split holds."""
    splits: dict[str, list[Record]] = {split: [] for split in _PUBLISHED}
    for record in records:
        splits.setdefault(record.split, []).append(record)
    held = [f"{split} {len(images):,} images, {_each(images, languages)}" for split, images in splits.items() if images]
    return f"{'; '.join(held)}."


def _each(images: Sequence[Record], languages: Sequence[str]) -> str:
    """Captions an image and language, such as ``5 en and 5 de captions each``."""
    counts = []
    for language in languages:
        found = {len(record.captions.get(language, ())) for record in images}
        counts.append(f"{min(found)} {language}" if len(found) == 1 else f"{min(found)} to {max(found)} {language}")
    return f"{' and '.join(counts)} captions each"


def _differing(records: Sequence[Record]) -> str:
    """The splits whose size isn't that of the published protocol; empty where none differs."""
    images = Counter(record.split for record in records)
    differing = {split: number for split, number in _PUBLISHED.items() if images[split] != number}
    return ", ".join(f"{split} {images[split]:,} of {number:,}" for split, number in differing.items())


def add_descriptions(records: Sequence[Record], found: dict[str, Record]) -> tuple[list[Record], int]:
    """The records with the captions of equal Flickr id added, and how many got some."""
    joined = []
    for record in records:
        more = found.get(flickr_id(record.image))
        joined.append(replace(record, captions={**record.captions, **more.captions}) if more else record)
    return joined, sum(flickr_id(record.image) in found for record in records)


def descriptions(folder: Path, task: int, languages: Sequence[str], encoding: str | None = None) -> dict[str, Record]:
    """All texts of a task by Flickr id: a record's captions are in the order of their number.

    Its split is train, dev or test, or that of a later year's test images, such as test_2017_flickr.

    Raises:
        DataError: a language or an image list is missing, or a text file and its image list differ in length.
    """
    if task not in _LISTS:
        raise DataError(f"task: found {task}, expected 1 or 2.")
    root = folder / f"task{task}"
    records: dict[str, Record] = {}
    texts = [text for text in _texts(root) if text[1] in languages]
    missing = [language for language in languages if language not in {text[1] for text in texts}]
    if missing:
        raise DataError(located(root / "raw", f"found no text in language {missing[0]!r}."))
    for part, language, path in texts:
        listed = root / "image_splits" / _LISTS[task].format(part=part)
        _read_part(listed, path, language, _SPLITS.get(part, part), encoding, records)
    return records


def _texts(root: Path) -> list[tuple[str, str, Path]]:
    """(part, language, file) of every text, the numbered ones in order; a text kept packed and unpacked counts once."""
    matches = [(match, path) for path in sorted(root.glob("raw/*")) if (match := _TEXT.fullmatch(path.name))]
    if not matches:
        do = "Give the folder above task1 and task2."
        raise DataError(located(root / "raw", "found no texts such as train.1.de.gz.", do=do))
    texts = {(match["part"], int(match["number"] or 0), match["language"]): path for match, path in matches}
    return [(part, language, texts[part, number, language]) for part, number, language in sorted(texts)]


def _read_part(
    list_path: Path, path: Path, language: str, split: str, encoding: str | None, records: dict[str, Record]
) -> None:
    ids = [flickr_id(name) for name in lines(list_path, encoding)]
    sentences = _sentences(path, encoding)
    if len(sentences) != len(ids):
        problem = f"found {len(sentences)} lines, expected {len(ids)} as in {list_path.name}."
        raise DataError(located(path, problem))
    for key, sentence in zip(ids, sentences, strict=True):
        if sentence.strip():
            record = records.setdefault(key, Record(key, split, {}))
            record.captions.setdefault(language, []).append(sentence.strip())


def _sentences(path: Path, encoding: str | None) -> list[str]:
    if path.suffix != ".gz":
        return lines(path, encoding)
    try:
        content = gzip.decompress(path.read_bytes())
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(located(path, f"not a whole gzip file ({error}).")) from None
    return split_lines(decode_text(path, content, encoding, ENCODING).text)
