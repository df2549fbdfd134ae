"""The dataset folder: what is written is read back, and whatever was damaged since is refused with its reason."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from vse_zoo.data import arrays
from vse_zoo.data import dataset as dataset_module
from vse_zoo.data.dataset import Dataset, write_dataset
from vse_zoo.data.records import Phrase, Record
from vse_zoo.errors import DataError, ImageError

DIM, COUNT = 5, 4
RECORDS = [
    Record("a.jpg", "train", {"en": ["a dog", "the dog"], "de": ["ein süßer Hund 🐕"]}),
    Record("sub/b.jpg", "train", {"en": ["a\ncat\u2028"]}),
    Record("c.jpg", "dev", {"de": ["drei"]}, (Phrase("de", 0, 0, 4, ((0.0, 0.25, 0.5, 1.0),)),)),
    Record("d.jpg", "test", {"en": ["four"], "de": ["vier", "Vier"]}),
]
COUNTS = np.array([2, 4, 1, 3])


def write(path: Path, records: list[Record] = RECORDS, **options: Any) -> Dataset:
    source = {"kind": "folder", "root": str(path.parent / "photos")}
    return write_dataset(
        path, records, **{"name": "mine", "image_source": source, "languages": ("en", "de"), **options}
    )


def features(*shape: int, dtype: str = "float16") -> np.ndarray:
    return np.random.default_rng(0).normal(size=shape).astype(dtype)


def random_boxes(*shape: int) -> np.ndarray:
    corners = np.random.default_rng(1).random((*shape, 2, 2)).astype("float32")
    return np.sort(corners, axis=-2).reshape(*shape, 4)


def saved(folder: Path, **named: np.ndarray) -> dict[str, Path]:
    folder.mkdir(exist_ok=True)
    for name, array in named.items():
        np.save(folder / f"new_{name}.npy", array)
    return {name: folder / f"new_{name}.npy" for name in named}


def attach(dataset: Dataset, files: dict[str, Path], **options: Any) -> Dataset:
    defaults: dict[str, Any] = {"backbone": "net", "grid": None, "left_out": {}, "offsets": files.get("offsets")}
    return dataset.attach_regions(files["regions"], files.get("boxes"), **{**defaults, **options})


@pytest.fixture
def plain(tmp_path: Path) -> Dataset:
    return write(tmp_path / "data")


@pytest.fixture
def dense(plain: Dataset, tmp_path: Path) -> Dataset:
    boxes = random_boxes(4, COUNT)
    return attach(plain, saved(tmp_path / "new", regions=features(4, COUNT, DIM), boxes=boxes), grid=(2, 2))


@pytest.fixture
def stacked(plain: Dataset, tmp_path: Path) -> Dataset:
    offsets = np.concatenate([[0], np.cumsum(COUNTS)])
    boxes = random_boxes(10)
    return attach(
        plain, saved(tmp_path / "new", regions=features(10, DIM, dtype="float32"), boxes=boxes, offsets=offsets)
    )


def test_what_is_written_is_read(plain: Dataset) -> None:
    dataset = Dataset.open(plain.path)
    assert (len(dataset), dataset.name, dataset.languages) == (4, "mine", ("en", "de"))
    assert dataset.splits == {"train": 2, "dev": 1, "test": 1}
    assert dataset.records == RECORDS
    assert dataset.image_names == [record.image for record in RECORDS]
    content = (dataset.path / "captions.jsonl").read_bytes()
    assert dataset.content_hash == hashlib.sha256(content).hexdigest()
    assert [json.loads(line)["captions"] for line in content.split(b"\n")[:-1]] == [r.captions for r in RECORDS]


def test_indices_and_captions(plain: Dataset) -> None:
    assert plain.indices("train").tolist() == [0, 1]
    assert plain.indices("train").dtype == np.int64
    texts, rows = plain.captions("train", "en")
    assert (texts, rows.tolist()) == (["a dog", "the dog", "a\ncat\u2028"], [0, 0, 1])
    assert plain.captions("dev", "en")[0] == []
    with pytest.raises(DataError, match="split: found 'val', expected one of: train, dev, test"):
        plain.indices("val")
    with pytest.raises(DataError, match="language: found 'fr', expected one of: en, de"):
        plain.captions("dev", "fr")


def test_without_regions_it_says_what_to_run(plain: Dataset) -> None:
    assert not plain.has_regions
    with pytest.raises(DataError, match=r"no region features yet. Run: vse-zoo features .*data"):
        plain.regions(np.array([0]))


@pytest.mark.parametrize("rows", [[0], [3, 0, 3, 1], []])
def test_dense_regions(dense: Dataset, rows: list[int]) -> None:
    regions, mask = dense.regions(np.array(rows, np.int64))
    np.testing.assert_array_equal(regions, features(4, COUNT, DIM)[rows])
    assert (regions.dtype, dense.region_dim, dense.grid) == (np.float16, DIM, (2, 2))
    assert mask.shape == (len(rows), COUNT)
    assert mask.all()


@pytest.mark.parametrize("rows", [[0], [2], [3, 0, 3, 1]])
def test_stacked_regions(stacked: Dataset, rows: list[int]) -> None:
    regions, mask = stacked.regions(np.array(rows))
    each = np.split(features(10, DIM, dtype="float32"), np.cumsum(COUNTS)[:-1])
    assert regions.shape == (len(rows), COUNTS[rows].max(), DIM)
    assert regions.dtype == np.float32
    assert mask.sum(axis=1).tolist() == COUNTS[rows].tolist()
    for place, row in enumerate(rows):
        np.testing.assert_array_equal(regions[place][mask[place]], each[row])
        assert not regions[place][~mask[place]].any()


@pytest.mark.parametrize("row", [-1, 4])
def test_rows_beyond_the_images_are_errors(dense: Dataset, row: int) -> None:
    with pytest.raises(IndexError, match="within 0…3"):
        dense.regions(np.array([0, row]))
    with pytest.raises(IndexError, match="within 0…3"):
        dense.boxes(row)


def test_boxes(dense: Dataset, plain: Dataset) -> None:
    np.testing.assert_array_equal(dense.boxes(2), np.load(dense.path / "boxes.npy")[2])
    assert Dataset(dense.path).boxes(0).shape == (COUNT, 4)


def test_stacked_boxes(stacked: Dataset) -> None:
    np.testing.assert_array_equal(stacked.boxes(1), np.load(stacked.path / "boxes.npy")[2:6])


def test_a_folder_without_boxes(plain: Dataset, tmp_path: Path) -> None:
    assert attach(plain, saved(tmp_path / "new", regions=features(4, 1, DIM))).boxes(0) is None


def test_images_left_out_are_nowhere(plain: Dataset, tmp_path: Path) -> None:
    dataset = attach(plain, saved(tmp_path / "new", regions=features(4, 1, DIM)), left_out={"a.jpg": "truncated"})
    assert dataset.left_out == {"a.jpg": "truncated"}
    assert dataset.indices("train").tolist() == [1]
    assert dataset.captions("train", "en")[1].tolist() == [1]
    assert dataset.captions("train", "de")[0] == []
    assert len(dataset) == 4


def test_an_image_left_out_may_have_no_region(plain: Dataset, tmp_path: Path) -> None:
    files = saved(tmp_path / "new", regions=features(3, DIM), offsets=np.array([0, 1, 1, 2, 3]))
    with pytest.raises(DataError, match=r"new_offsets\.npy: image 'sub/b.jpg' has no region"):
        attach(plain, files)
    assert attach(plain, files, left_out={"sub/b.jpg": "empty"}).indices("train").tolist() == [0]


def test_pictures(plain: Dataset) -> None:
    photos = Path(plain.image_source["root"])
    (photos / "sub").mkdir(parents=True)
    Image.new("L", (3, 2), 200).save(photos / "sub" / "b.jpg")
    picture = plain.open_image(1)
    assert (picture.mode, picture.size) == ("RGB", (3, 2))
    with pytest.raises(ImageError, match=r"a\.jpg: no such file"):
        plain.open_image(0)


def test_a_relative_image_root_starts_at_the_dataset_folder(tmp_path: Path) -> None:
    Image.new("RGB", (3, 2)).save(tmp_path / "a.jpg")
    dataset = write(tmp_path / "data", image_source={"kind": "folder", "root": ".."})
    assert dataset.open_image(0).size == (3, 2)


def test_pictures_of_scenes(tmp_path: Path) -> None:
    records = [Record("scene-000003", "train", {"en": ["x"]})]
    dataset = write(tmp_path / "s", records, image_source={"kind": "scenes", "seed": 1}, languages=("en",))
    assert dataset.open_image(0).mode == "RGB"


def test_a_31_gib_folder_opens_at_once(tmp_path: Path) -> None:
    """COCO's size, as a sparse file: were it read, this would take a minute and most of the memory."""
    images, count, dim = 113_287, 36, 4096
    dataset = write(
        tmp_path / "coco", [Record(f"{n}.jpg", "train", {"en": ["x"]}) for n in range(images)], languages=("en",)
    )
    header = {"descr": "<f2", "fortran_order": False, "shape": (images, count, dim)}
    path = dataset.path / "regions.npy"
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, header)
        try:
            file.truncate(file.tell() + images * count * dim * 2)
        except OSError as error:
            pytest.skip(f"no room for a sparse file of 31 GiB here: {error}")
    if path.stat().st_blocks * 512 > 2**20:
        pytest.skip("the file system stores sparse files in full")
    info = {"dtype": "float16", "dim": dim, "count": count, "boxes": False, "backbone": "n", "grid": None, "hashes": {}}
    edit(dataset.path, regions=info)
    opened = Dataset(dataset.path)
    regions, _ = opened.regions(np.array([images - 1, 0]))
    assert regions.shape == (2, count, dim)
    assert path.stat().st_size > 31 * 2**30


def edit(folder: Path, **fields: Any) -> None:
    path = folder / "dataset.json"
    value = json.loads(path.read_text())
    path.write_text(json.dumps({**value, **fields}))


def edit_regions(folder: Path, **fields: Any) -> None:
    edit(folder, regions={**json.loads((folder / "dataset.json").read_text())["regions"], **fields})


def cut(path: Path, change: int) -> None:
    os.truncate(path, path.stat().st_size + change)


def drop(folder: Path, field: str) -> None:
    value = json.loads((folder / "dataset.json").read_text())
    (folder / "dataset.json").write_text(json.dumps({k: v for k, v in value.items() if k != field}))


Damage = tuple[Callable[[Path], object], str]
CORRUPT: dict[str, Damage] = {
    "no folder": (shutil.rmtree, r"data: no such folder"),
    "no dataset.json": (
        lambda f: (f / "dataset.json").unlink(),
        r"data: dataset.json is missing, as after an interrupted write",
    ),
    "not JSON": (lambda f: (f / "dataset.json").write_text("{"), r"dataset.json: not valid JSON"),
    "a JSON list": (lambda f: (f / "dataset.json").write_text("[]"), r"dataset.json: found '\[\]'"),
    "another format": (lambda f: edit(f, format=2), r"dataset.json, field 'format': found '2'"),
    "images of no type": (lambda f: edit(f, images="4"), r"field 'images': found '4'"),
    "other image count": (lambda f: edit(f, images=5), r"dataset.json: .*the splits hold 4 images, expected 5"),
    "no language": (lambda f: edit(f, languages=[]), r"field 'languages'"),
    "a split of no size": (lambda f: edit(f, splits={"train": None}), r"field 'splits.train'"),
    "unknown image source": (lambda f: edit(f, image_source={"kind": "web"}), r"field 'image_source'"),
    "no captions": (lambda f: (f / "captions.jsonl").unlink(), r"captions.jsonl: the file is missing"),
    "captions cut": (lambda f: cut(f / "captions.jsonl", -1), r"captions.jsonl: found \d+ bytes, expected \d+"),
    "captions longer": (lambda f: cut(f / "captions.jsonl", 1), r"captions.jsonl: found \d+ bytes, expected \d+"),
    "no regions": (lambda f: (f / "regions.npy").unlink(), r"regions.npy: the file is missing"),
    "regions cut": (lambda f: cut(f / "regions.npy", -1), r"regions.npy: not a whole .npy file"),
    "regions longer": (
        lambda f: cut(f / "regions.npy", 3),
        r"regions.npy: found \d+ bytes, expected \d+ by its header",
    ),
    "regions empty": (lambda f: os.truncate(f / "regions.npy", 0), r"regions.npy: not a whole .npy file"),
    "header cut": (lambda f: os.truncate(f / "regions.npy", 20), r"regions.npy: not a whole .npy file"),
    "regions not .npy": (
        lambda f: (f / "regions.npy").write_bytes(b"PK\x03\x04" * 99),
        r"regions.npy: not a whole",
    ),
    "regions of objects": (lambda f: np.save(f / "regions.npy", np.array([None])), r"regions.npy: not a whole"),
    "regions of other images": (lambda f: np.save(f / "regions.npy", features(3, COUNT, DIM)), r"expected \(4, 4, 5\)"),
    "regions of another type": (
        lambda f: np.save(f / "regions.npy", features(4, COUNT, DIM, dtype="float32")),
        r"regions.npy: found shape \(4, 4, 5\) of float32, expected \(4, 4, 5\) of float16",
    ),
    "other dim": (lambda f: edit_regions(f, dim=6), r"regions.npy: found shape .*, expected \(4, 4, 6\)"),
    "dim of no size": (lambda f: edit_regions(f, dim=0), r"field 'regions.dim'"),
    "other count": (lambda f: edit_regions(f, count=5), r"regions.npy: found shape .*, expected \(4, 5, 5\)"),
    "count lost": (lambda f: edit_regions(f, count=None), r"offsets.npy: the file is missing"),
    "dtype unknown": (lambda f: edit_regions(f, dtype="int8"), r"field 'regions.dtype': found 'int8'"),
    "no boxes": (lambda f: (f / "boxes.npy").unlink(), r"boxes.npy: the file is missing"),
    "boxes cut": (lambda f: cut(f / "boxes.npy", -4), r"boxes.npy: not a whole .npy file"),
    "boxes of other regions": (
        lambda f: np.save(f / "boxes.npy", np.zeros((4, 3, 4), "float32")),
        r"boxes.npy: found shape \(4, 3, 4\) of float32, expected \(4, 4, 4\)",
    ),
} | {
    f"no {field}": (lambda f, field=field: drop(f, field), f"dataset.json, field '{field}'")  # type: ignore[misc]
    for field in ("format", "name", "images", "languages", "splits", "content_hash", "image_source", "left_out")
}


@pytest.mark.parametrize("kind", CORRUPT)
def test_a_damaged_folder_is_refused_with_the_reason(dense: Dataset, kind: str) -> None:
    damage, reason = CORRUPT[kind]
    damage(dense.path)
    with pytest.raises(DataError, match=reason) as caught:
        Dataset(dense.path)
    assert str(dense.path) in str(caught.value)


OFFSETS: dict[str, np.ndarray] = {
    "too few": np.array([0, 2, 6, 10]),
    "none": np.zeros(0, np.int64),
    "falling": np.array([0, 6, 2, 7, 10]),
    "not from 0": np.array([1, 2, 6, 7, 10]),
    "short of the end": np.array([0, 2, 6, 7, 9]),
    "beyond the end": np.array([0, 2, 6, 7, 11]),
    "not integers": np.array([0.0, 2.0, 6.0, 7.0, 10.0]),
}


@pytest.mark.parametrize("kind", OFFSETS)
def test_wrong_offsets_are_refused(stacked: Dataset, kind: str) -> None:
    np.save(stacked.path / "offsets.npy", OFFSETS[kind])
    with pytest.raises(DataError, match=r"offsets\.npy: (found|not a whole)"):
        Dataset(stacked.path)


LINES: dict[str, tuple[bytes, bytes, str]] = {
    "broken JSON": (b'{"captions"', b'["captions"', "no valid record"),
    "invalid UTF-8": ("ß".encode(), b"\xff\xfe", "no valid record"),
    "a field gone": (b'"image"', b'"imago"', "'image'"),
    "another split": (b'"split": "train"', b'"split": "tests"', "found splits"),
    "an absolute path": (b'"a.jpg"', b'"/.jpg"', "expected a path below the image root"),
    "a caption of blanks": (b'"a dog"', b'"     "', "an empty caption"),
    "an image twice": (b'"c.jpg"', b'"a.jpg"', "found 3 different images, expected 4"),
    "a phrase outside": (b'"end": 4', b'"end": 9', "characters 0 to 9 in a caption of 4"),
}


@pytest.mark.parametrize("kind", LINES)
def test_captions_damaged_in_place(plain: Dataset, kind: str) -> None:
    """Of unchanged length, so that opening can't see it: reading does, and verifying."""
    old, new, reason = LINES[kind]
    path = plain.path / "captions.jsonl"
    content = path.read_bytes()
    assert old in content
    path.write_bytes(content.replace(old, new, 1))
    dataset = Dataset(plain.path)
    with pytest.raises(DataError, match=rf"captions\.jsonl.*{reason}"):
        _ = dataset.records
    with pytest.raises(DataError, match=r"captions\.jsonl: its content has changed"):
        dataset.verify()


@pytest.mark.parametrize("name", ["regions.npy", "boxes.npy", "offsets.npy"])
def test_verify_finds_a_flipped_bit(stacked: Dataset, name: str) -> None:
    stacked.verify()
    path = stacked.path / name
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(DataError, match=rf"{name}: its content has changed"):
        stacked.verify()


REFUSED: dict[str, tuple[list[Record], dict[str, Any], str]] = {
    "no image": ([], {}, "no image with a caption was found"),
    "an image twice": ([*RECORDS, RECORDS[1]], {}, "row 5: image 'sub/b.jpg' occurs twice"),
    "no caption": ([Record("a", "train", {})], {}, "row 1, field 'captions': image 'a': found none"),
    "no caption in any language": (
        [Record("a", "train", {"en": []})],
        {},
        "field 'captions': image 'a': found an empty caption",
    ),
    "a blank caption": (
        [Record("a", "train", {"en": ["x", " "]})],
        {},
        "found an empty caption, or an empty list of them, in 'en'",
    ),
    "half a surrogate": ([Record("a", "train", {"en": ["\ud83d"]})], {}, "characters that aren't valid Unicode"),
    "no split": ([Record("a", "", {"en": ["x"]})], {}, "field 'split': image 'a': found ''"),
    "no name": ([Record("", "train", {"en": ["x"]})], {}, "field 'image': image '': found the name"),
    "a path that climbs": ([Record("../a", "train", {"en": ["x"]})], {}, "field 'image': image '../a': found the name"),
    "an unlisted language": (RECORDS, {"languages": ("en",)}, "found 'de', expected one of: en"),
    "a language without captions": (RECORDS, {"languages": ("en", "de", "fr")}, "no image has a caption in: fr"),
    "a language twice": (RECORDS, {"languages": ("en", "de", "en")}, "a language is listed twice"),
    "an unusable language": (
        [Record("a", "train", {"../e": ["x"]})],
        {"languages": ("../e",)},
        "found the language '../e'",
    ),
    "an unknown image source": (RECORDS, {"image_source": {"kind": "web"}}, "field 'image_source'"),
    "no dataset name": (RECORDS, {"name": ""}, "field 'name'"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_unusable_records_are_refused_and_nothing_is_written(tmp_path: Path, kind: str) -> None:
    records, options, reason = REFUSED[kind]
    with pytest.raises(DataError) as caught:
        write(tmp_path / "new", records, **options)
    assert reason in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_an_existing_dataset_is_kept_unless_told_otherwise(dense: Dataset) -> None:
    before = contents(dense.path)
    with pytest.raises(DataError, match=r"there is a dataset here already.*--overwrite"):
        write(dense.path)
    with pytest.raises(DataError, match="occurs twice"):
        write(dense.path, [RECORDS[0], RECORDS[0]], overwrite=True)
    assert contents(dense.path) == before
    new = write(dense.path, RECORDS[:1], overwrite=True)
    assert (len(new), new.has_regions) == (1, False)
    assert set(contents(dense.path)) == {"dataset.json", "captions.jsonl"}


def test_a_table_of_ones_own_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "captions.jsonl").write_text("mine")
    with pytest.raises(DataError, match="already"):
        write(tmp_path)
    with pytest.raises(DataError, match="found a file, expected a folder"):
        write(tmp_path / "captions.jsonl")


MISFITS: dict[str, tuple[dict[str, np.ndarray], dict[str, Any], str]] = {
    "other images": ({"regions": features(3, COUNT, DIM)}, {}, "found shape (3, 4, 5) of float16, expected (4, 4, 5)"),
    "no image axis": ({"regions": features(4, DIM)}, {}, r"expected (4, R, D)"),
    "no regions": ({"regions": features(4, 0, DIM)}, {}, r"expected (4, R, D)"),
    "another type": ({"regions": features(4, 1, DIM, dtype="float64")}, {}, "of float64, expected"),
    "not finite": ({"regions": np.float16([[[0]], [[0]], [[np.nan]], [[0]]])}, {}, "row 2: found a number that isn't"),
    "another grid": ({"regions": features(4, 3, DIM)}, {"grid": (2, 2)}, "found 3 regions an image, expected a grid"),
    "boxes of another shape": (
        {"regions": features(4, 2, DIM), "boxes": np.zeros((4, 3, 4), "float32")},
        {},
        "boxes.npy: found shape (4, 3, 4)",
    ),
    "boxes in pixels": (
        {"regions": features(4, 1, DIM), "boxes": np.full((4, 1, 4), 224, "float32")},
        {},
        "boxes.npy: found numbers outside of",
    ),
    "an unknown image left out": (
        {"regions": features(4, 1, DIM)},
        {"left_out": {"z": "?"}},
        "field 'left_out': found 'z'",
    ),
    "offsets of other images": ({"regions": features(3, DIM), "offsets": np.arange(4)}, {}, "offsets.npy: found shape"),
}


@pytest.mark.parametrize("kind", MISFITS)
def test_arrays_that_do_not_fit_change_nothing(dense: Dataset, tmp_path: Path, kind: str) -> None:
    named, options, reason = MISFITS[kind]
    files = saved(tmp_path / "newer", **named)
    before = contents(dense.path)
    with pytest.raises(DataError) as caught:
        attach(dense, files, **options)
    assert reason in str(caught.value)
    assert contents(dense.path) == before
    assert all(path.is_file() for path in files.values())


def test_attaching_replaces_an_earlier_extraction(stacked: Dataset, tmp_path: Path) -> None:
    dataset = attach(stacked, saved(tmp_path / "newer", regions=features(4, 1, DIM)))
    assert set(contents(dataset.path)) == {"dataset.json", "captions.jsonl", "regions.npy"}
    dataset.verify()


@pytest.mark.parametrize("moves", [0, 1, 2])
def test_a_crash_while_attaching_leaves_a_folder_without_features(
    stacked: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moves: int
) -> None:
    files = saved(tmp_path / "newer", regions=features(4, 1, DIM), boxes=np.zeros((4, 1, 4), "float32"))
    calls = []

    def failing(source: Path, target: Path) -> None:
        if len(calls) == moves:
            raise KeyboardInterrupt
        calls.append(source)
        os.replace(source, target)

    monkeypatch.setattr(dataset_module, "move", failing)
    if moves < 2:
        with pytest.raises(KeyboardInterrupt):
            attach(stacked, files)
        opened = Dataset(stacked.path)
        assert not opened.has_regions
        assert opened.records == RECORDS
        with pytest.raises(DataError, match="Run: vse-zoo features"):
            _ = opened.arrays
        monkeypatch.undo()
        files = saved(tmp_path / "newer", regions=features(4, 1, DIM), boxes=np.zeros((4, 1, 4), "float32"))
    assert attach(Dataset(stacked.path), files).region_dim == DIM
    assert not any(path.name.startswith(".") for path in stacked.path.iterdir())


def test_names_of_the_arrays_are_those_documented() -> None:
    assert (arrays.REGIONS, arrays.OFFSETS, arrays.BOXES) == ("regions.npy", "offsets.npy", "boxes.npy")
