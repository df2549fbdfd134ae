"""TSV, .npz folders and HDF5 into a dataset folder: joined, damage left out or refused, nothing half-written."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from vse_zoo.data import Dataset, Record, write_dataset
from vse_zoo.errors import ConfigError, DataError
from vse_zoo.features.precomputed import Entry, ImageRegions
from vse_zoo.workflow import precomputed
from vse_zoo.workflow.features import attach_precomputed

NAMES = [f"val2014/COCO_val2014_{number:012d}.jpg" for number in (42, 73, 74, 133, 136)]
IDS = ["42", "73", "74", "133", "136"]
RNG = np.random.default_rng(0)
EQUAL, VARYING = [3] * 5, [3, 1, 4, 2, 3]


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    records = [Record(name, "train", {"en": ["a dog"]}) for name in NAMES]
    source = {"kind": "folder", "root": "."}
    return write_dataset(tmp_path / "data", records, name="n", image_source=source, languages=("en",))


def drawn(counts: list[int]) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Features, and relative boxes whose corners lie on the eighths of a picture."""
    features = [RNG.normal(size=(count, 6)).astype("float32") for count in counts]
    corners = [np.sort(RNG.integers(0, 9, (count, 2, 2)) / 8, axis=1).reshape(count, 4) for count in counts]
    for boxes in corners:
        boxes[0] = [0, 0, 1, 1]
    return features, [boxes.astype("float32") for boxes in corners]


def tsv_row(name: str, features: np.ndarray, boxes: np.ndarray) -> str:
    numbers = [base64.b64encode(array.tobytes()).decode() for array in (boxes * np.float32([80, 40] * 2), features)]
    return "\t".join([name, "80", "40", str(len(features)), *numbers]) + "\n"


def save(path: Path, names: list[str], features: list[np.ndarray], boxes: list[np.ndarray]) -> Path:
    images = list(zip(names, features, boxes, strict=True))[::-1]
    if path.name == "parts":
        path.mkdir()
        for part, several in enumerate((images[:2], images[2:])):
            (path / f"a.tsv.{part}").write_text("".join(tsv_row(*image) for image in several))
    elif path.name == "npz":
        path.mkdir()
        for name, numbers, corners in images:
            np.savez(path / f"{name}.npz", x=numbers, bbox=corners * [80, 40, 80, 40], image_w=80, image_h=40)
    elif path.suffix == ".h5":
        with h5py.File(path, "w") as file:
            for name, numbers, corners in images:
                file[f"{name}/features"], file[f"{name}/boxes"] = numbers, corners
    else:
        path.write_text("".join(tsv_row(*image) for image in images))
    return path


@pytest.mark.parametrize("counts", [EQUAL, VARYING])
@pytest.mark.parametrize("file", ["a.tsv", "parts", "npz", "a.h5"])
@pytest.mark.parametrize("half", [False, True])
def test_every_format_gives_the_same_folder(
    dataset: Dataset, tmp_path: Path, file: str, counts: list[int], half: bool
) -> None:
    features, boxes = drawn(counts)
    path = save(tmp_path / file, ["9", *IDS], [features[0] + 1, *features], [boxes[0], *boxes])
    done = attach_precomputed(dataset, path, half=half)
    found, mask = done.regions(np.arange(5))
    np.testing.assert_array_equal(mask.sum(1), counts)
    for row in range(5):
        expected = features[row].astype("float16" if half else "float32")
        np.testing.assert_array_equal(found[row, : counts[row]], expected, strict=True)
        np.testing.assert_array_equal(done.boxes(row), boxes[row], strict=True)
    varying = {"offsets.npy"} if counts == VARYING else set()
    written = {"dataset.json", "captions.jsonl", "regions.npy", "boxes.npy", *varying}
    assert {path.name for path in done.path.iterdir()} == written
    assert (done.grid, done.left_out, done.arrays.backbone) == (None, {}, f"precomputed: {file}")
    done.verify()
    assert attach_precomputed(done, path, boxes=False).boxes(0) is None


def test_rows_of_hdf5_in_the_order_of_the_dataset_or_of_names(dataset: Dataset, tmp_path: Path) -> None:
    features, _ = drawn(EQUAL)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["image_features"] = np.stack(features)
    np.testing.assert_array_equal(attach_precomputed(dataset, tmp_path / "a.h5").regions(np.arange(5))[0], features)
    (tmp_path / "names.txt").write_text("\n".join(IDS[::-1]))
    done = attach_precomputed(dataset, tmp_path / "a.h5", names=tmp_path / "names.txt")
    np.testing.assert_array_equal(done.regions(np.arange(5))[0], features[::-1])


def test_names_of_an_array_are_joined_as_ids_are(dataset: Dataset, tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.arange(10.0).reshape(5, 2))
    (tmp_path / "names.txt").write_text("\n".join(IDS[::-1]))
    done = attach_precomputed(dataset, tmp_path / "a.npy", names=tmp_path / "names.txt", half=True)
    expected = np.arange(10).reshape(5, 1, 2)[::-1].astype("float16")
    np.testing.assert_array_equal(done.regions(np.arange(5))[0], expected, strict=True)
    said: list[str] = []
    names = "\r\n".join(name.replace("/", "\\").upper() for name in NAMES[::-1])
    (tmp_path / "names.txt").write_bytes(names.encode("utf-16"))
    done = attach_precomputed(dataset, tmp_path / "a.npy", names=tmp_path / "names.txt", half=True, note=said.append)
    np.testing.assert_array_equal(done.regions(np.arange(5))[0], expected, strict=True)
    (remark,) = said
    assert remark.startswith("5 ids of names.txt and images are spelt differently and were matched")
    (tmp_path / "names.txt").write_bytes(names.replace("COCO", "ä").encode("cp1252"))
    with pytest.raises(DataError, match=r"names\.txt, line 1: found the byte 0xe4, .* --encoding windows-1252"):
        attach_precomputed(dataset, tmp_path / "a.npy", names=tmp_path / "names.txt")
    with pytest.raises(DataError, match=r"expected the dataset's images|found no line"):
        attach_precomputed(dataset, tmp_path / "a.npy", names=tmp_path / "names.txt", encoding="cp1252")
    with pytest.raises(ConfigError, match=r"--fields: .*a.npy isn't TSV"):
        attach_precomputed(dataset, tmp_path / "a.npy", fields=["image_id"])


def unchanged(dataset: Dataset) -> None:
    assert {path.name for path in dataset.path.iterdir()} == {"dataset.json", "captions.jsonl"}
    assert not Dataset.open(dataset.path).has_regions


@pytest.mark.parametrize("counts", [EQUAL, VARYING])
def test_damaged_and_missing_images_are_left_out_or_refused(
    dataset: Dataset, tmp_path: Path, counts: list[int]
) -> None:
    features, boxes = drawn(counts)
    features[0] = features[0] * np.float32(np.nan)
    path = save(tmp_path / "a.tsv", IDS[:-1], features[:-1], boxes[:-1])
    with pytest.raises(DataError, match=r"1 of 5 images have no usable features. Mend the file, or run without --str"):
        attach_precomputed(dataset, path, strict=True)
    unchanged(dataset)
    done = attach_precomputed(dataset, path)
    assert done.left_out == {
        NAMES[0]: f"{path}, row 4, field 'features': found a number that isn't finite in region 0.",
        NAMES[4]: f"{path}: found no row of this image.",
    }
    assert done.indices("train").tolist() == [1, 2, 3]
    for row in (1, 2, 3):
        np.testing.assert_array_equal(done.regions(np.array([row]))[0][0], features[row])
    done.verify()


def test_strict_refuses_damage(dataset: Dataset, tmp_path: Path) -> None:
    features, boxes = drawn(EQUAL)
    features[1] = features[1] * np.float32(np.nan)
    path = save(tmp_path / "a.tsv", IDS, features, boxes)
    with pytest.raises(
        DataError, match=rf"1 of 5 images have no.*without --strict.*\n  {NAMES[1]}: .*, row 4, field 'f"
    ):
        attach_precomputed(dataset, path, strict=True)
    unchanged(dataset)


def test_most_images_may_not_be_left_out(dataset: Dataset, tmp_path: Path) -> None:
    features, boxes = drawn(EQUAL)
    path = save(tmp_path / "a.tsv", IDS[:2], features[:2], boxes[:2])
    with pytest.raises(
        DataError, match=r"3 of 5 images have no usable features. At most half may be left out.\n  val2"
    ):
        attach_precomputed(dataset, path)
    path = save(tmp_path / "b.tsv", IDS, [array * np.float32(np.inf) for array in features], boxes)
    with pytest.raises(DataError, match=r"3 of 5 images have no usable features"):
        attach_precomputed(dataset, path)
    path = save(tmp_path / "c.tsv", ["a", "b", "c", "d", "e"], features, boxes)
    with pytest.raises(DataError, match=rf"such as 'e', 'd', 'c', expected the dataset's images such as '{NAMES[0]}'"):
        attach_precomputed(dataset, path)
    unchanged(dataset)


def test_an_image_that_is_there_twice(dataset: Dataset, tmp_path: Path) -> None:
    features, boxes = drawn(EQUAL)
    path = save(tmp_path / "a.tsv", IDS, features, boxes)
    notes: list[str] = []
    rows = path.read_text()
    path.write_text(rows + tsv_row("42", features[0], boxes[0]))
    done = attach_precomputed(dataset, path, note=notes.append, strict=True)
    assert notes == [f"{path}, row 5: the image '42' is there 2 times; all its rows hold the same numbers."]
    path.write_text(tsv_row("42", features[0] * np.float32(np.inf), boxes[0]) + rows)
    np.testing.assert_array_equal(attach_precomputed(dataset, path, note=notes.append).regions([0])[0][0], features[0])
    assert "row 6: the image '42' is there 2 times; a damaged row of it is passed over" in notes[1]
    assert "row 1, field 'features': found a number that isn't finite" in notes[1]
    for other in ((features[0] + 1, boxes[0]), (features[0], boxes[0][[0, 0, 1]])):
        path.write_text(rows + tsv_row("42", *other))
        with pytest.raises(DataError, match=r"row 5: found the image '42' again with other numbers: .*, row 6: again"):
            attach_precomputed(done, path)


def test_a_row_without_an_id_is_told(dataset: Dataset, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = save(tmp_path / "a.tsv", IDS, *drawn(EQUAL))
    path.write_text(path.read_text() + "\tcut")
    assert not attach_precomputed(dataset, path).left_out
    assert "a.tsv, row 6, field 'image_id': found no id of an image; the row is passed over" in capsys.readouterr().err
    with pytest.raises(DataError, match=r"a.tsv, row 6, field 'image_id': found no id of an image"):
        attach_precomputed(dataset, path, strict=True)


def test_an_interruption_leaves_nothing(dataset: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = save(tmp_path / "a.tsv", IDS, *drawn(EQUAL))
    opened = precomputed._by_id

    def interrupted(*arguments: Any) -> dict[str, list[Entry]]:
        found = opened(*arguments)

        def stop() -> ImageRegions:
            raise KeyboardInterrupt

        found["74"] = [Entry("74", found["74"][0].place, stop)]
        return found

    monkeypatch.setattr(precomputed, "_by_id", interrupted)
    with pytest.raises(KeyboardInterrupt):
        attach_precomputed(dataset, path)
    unchanged(dataset)


def test_what_a_killed_job_left_goes(dataset: Dataset, tmp_path: Path) -> None:
    (dataset.path / "copying").mkdir()
    (dataset.path / "copying" / "regions.npy").write_bytes(b"half")
    done = attach_precomputed(dataset, save(tmp_path / "a.tsv", IDS, *drawn(EQUAL)))
    assert {path.name for path in done.path.iterdir()} == {"dataset.json", "captions.jsonl", "regions.npy", "boxes.npy"}
