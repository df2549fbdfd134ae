"""COCO captions (Chen et al., 2015): captions_train2014.json and captions_val2014.json, or those of 2017."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

from vse_zoo.data.records import Record
from vse_zoo.data.sources import Encoding, Source, source
from vse_zoo.data.sources.published import Captions, image_source, member, with_photos
from vse_zoo.data.tables import lines
from vse_zoo.errors import DataError, located
from vse_zoo.files import read_json
from vse_zoo.image_names import spelling, without_ending

__all__ = ["read_coco_captions"]

Photos = dict[int, Record]


@source("coco_captions")
def read_coco_captions(
    train: Annotated[Path, "captions_train2014.json or captions_train2017.json."],
    val: Annotated[Path, "captions_val2014.json or captions_val2017.json: dev and test are taken from it."],
    images: Annotated[Path | None, "Folder of train2014 and val2014; without it the captions are read alone."] = None,
    dev_ids: Annotated[Path | None, "Text file of the dev split: an image id or file name a line."] = None,
    test_ids: Annotated[Path | None, "Text file of the test split, whose order stays: folds are cut from it."] = None,
    dev: Annotated[int, "Without --dev-ids: so many photos, chosen by a hash of their ids."] = 5000,
    test: Annotated[int, "Without --test-ids: so many photos, chosen by a hash of their ids."] = 5000,
    restval: Annotated[bool, "The other photos of val join train, as in the papers' figures, or are left out."] = True,
    encoding: Encoding = None,
) -> Source:
    """COCO captions; Karpathy's splits where lists of his ids are given.

    Example: vse-zoo prepare coco_captions data/coco --train captions_train2014.json --val captions_val2014.json
    """
    root = image_source(images)
    captions = Captions()
    training, rest = (_read(path, captions) for path in (train, val))
    if both := sorted(training.keys() & rest.keys()):
        raise DataError(located(val, f"the image {both[0]} is in {train.name} too.", field="images"))
    # Test before dev: another number of dev photos leaves the test split as it is.
    tested = _split(val, rest, "test", test, test_ids, encoding)
    developed = _split(val, rest, "dev", dev, dev_ids, encoding)
    records = [*training.values(), *(rest.values() if restval else ()), *developed, *tested]
    records, notes = with_photos(records, images)
    if not restval:
        notes.append(f"{len(rest)} other images of {val.name} are left out.")
    return Source("coco", records, root, ("en",), tuple(notes + captions.notes))


def _read(path: Path, captions: Captions) -> Photos:
    """The file's images with a caption, by id, in its order; all are of train at first."""
    content = read_json(path)
    texts: dict[int, list[str]] = defaultdict(list)
    for number, annotation in enumerate(member(path, content, "", "annotations", list)):
        place = f"annotations[{number}]"
        key = member(path, annotation, place, "image_id", int)
        texts[key].append(member(path, annotation, place, "caption", str))
    photos: Photos = {}
    names = _names(path, content)
    for key, name in names.items():
        if found := captions.of(name, texts[key]):
            photos[key] = Record(name, "train", {"en": found})
    if strangers := [key for key in texts if key not in names]:
        problem = f"found captions of the image {strangers[0]}, which isn't listed in 'images'."
        raise DataError(located(path, problem, field="annotations"))
    return photos


def _names(path: Path, content: Any) -> dict[int, str]:
    names: dict[int, str] = {}
    for number, image in enumerate(member(path, content, "", "images", list)):
        key = member(path, image, f"images[{number}]", "id", int)
        if key in names:
            raise DataError(located(path, f"the image {key} is listed twice.", field=f"images[{number}].id"))
        names[key] = _folder(path) + member(path, image, f"images[{number}]", "file_name", str)
    return names


def _folder(path: Path) -> str:
    """``train2014/`` for captions_train2014.json, since COCO's photos unpack to such folders; "" for other names."""
    match = re.fullmatch(r"captions_(\w+)", path.stem)
    return f"{match[1]}/" if match else ""


def _split(val: Path, rest: Photos, split: str, count: int, listed: Path | None, encoding: str | None) -> list[Record]:
    """Takes a split's photos out of the rest: in a list's order, or as many as asked for in the file's order."""
    if listed is not None:
        keys = _listed(listed, rest, encoding)
    elif 0 <= count <= len(rest):
        chosen = set(sorted(rest, key=lambda key: hashlib.sha256(str(key).encode()).digest())[:count])
        keys = [key for key in rest if key in chosen]
    else:
        problem = f"found {count}, expected 0 to {len(rest)}, the captioned images not taken yet."
        raise DataError(located(val, problem, field=split, do="Give smaller numbers for --dev and --test."))
    return [Record(rest[key].image, split, rest.pop(key).captions) for key in keys]


def _listed(path: Path, rest: Mapping[int, Record], encoding: str | None) -> Iterable[int]:
    by_name = {_name(photo.image): key for key, photo in rest.items()}
    keys: dict[int, None] = {}
    for row, line in enumerate(lines(path, encoding), 1):
        name = line.strip()
        if not name:
            continue
        key = int(name) if name.isdecimal() else by_name.get(_name(name), -1)
        if key in keys:
            raise DataError(located(path, f"the image {name!r} is listed twice.", row=row))
        if key not in rest:
            problem = f"found {name!r}, expected the id or file name of an image of --val that isn't in another split."
            raise DataError(located(path, problem, row=row))
        keys[key] = None
    return list(keys)


def _name(photo: str) -> str:
    """A photo's name as lists spell it: with or without folder and ending, in any case."""
    return without_ending(spelling(photo).rpartition("/")[2])
