"""HDF5 of region features: a row an image, fixed and adaptive, and a group or data set an image."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from vse_zoo.errors import ConfigError, DataError
from vse_zoo.features.precomputed import ImageRegions, open_entries

N, R, D = 3, 2, 5
RNG = np.random.default_rng(0)
FEATURES = RNG.normal(size=(N, R, D)).astype("float32")
RELATIVE = np.sort(RNG.random((N, R, 2, 2)), axis=2).reshape(N, R, 4).astype("float32")
SIZES = {"image_w": np.array([100, 200, 300]), "image_h": np.array([50, 60, 70])}
PIXELS = RELATIVE * np.stack([*SIZES.values()] * 2, axis=1)[:, None]
SPATIAL = np.concatenate([RELATIVE, RELATIVE[..., 2:] - RELATIVE[..., :2]], axis=2)
IDS = ["a.jpg", "b.jpg", "c.jpg"]
COUNTS = [2, 1, 3]
ENDS = np.cumsum(COUNTS)
RANGES = np.stack([ENDS - COUNTS, ENDS], axis=1)
STACKED = RNG.normal(size=(6, D)).astype("float32")


def save(path: Path, arrays: dict[str, Any]) -> Path:
    with h5py.File(path, "w") as file:
        for name, value in arrays.items():
            file[name] = value
    return path


def read(path: Path, images: list[str] = IDS, **options: Any) -> dict[str, ImageRegions]:
    with open_entries(path, images, **options) as entries:
        return {entry.image: entry.read() for entry in entries}


def check(found: dict[str, ImageRegions], features: Any, boxes: Any) -> None:
    assert list(found) == IDS
    for row, regions in enumerate(found.values()):
        np.testing.assert_array_equal(regions.features, features[row], strict=True)
        if boxes is None:
            assert regions.boxes is None
        else:
            np.testing.assert_allclose(regions.boxes, boxes[row], atol=1e-6, strict=True)


TEXTS = np.array(IDS, h5py.string_dtype())
ROWS: dict[str, tuple[dict[str, Any], Any]] = {
    "no boxes, no ids": ({"features": FEATURES}, None),
    "bottom-up-attention-vqa": (
        {"image_features": FEATURES, "image_bb": PIXELS, "spatial_features": SPATIAL},
        RELATIVE,
    ),
    "boxes in pixels": ({"features": FEATURES, "boxes": PIXELS, "image_ids": TEXTS, **SIZES}, RELATIVE),
    "boxes that are relative": ({"features": FEATURES, "boxes": RELATIVE, "image_id": np.array(IDS, "S")}, RELATIVE),
    "sizes in columns": (
        {"features": FEATURES, "boxes": PIXELS, "ids": TEXTS[:, None], **{k: v[:, None] for k, v in SIZES.items()}},
        RELATIVE,
    ),
}


@pytest.mark.parametrize("ending", [".h5", ".hdf5"])
@pytest.mark.parametrize("case", ROWS)
def test_a_row_an_image(tmp_path: Path, case: str, ending: str) -> None:
    arrays, boxes = ROWS[case]
    path = save(tmp_path / f"a{ending}", arrays)
    check(read(path), FEATURES, boxes)
    check(read(path, boxes=False), FEATURES, None)


def test_one_region_an_image(tmp_path: Path) -> None:
    check(read(save(tmp_path / "a.h5", {"feats": FEATURES[:, 0]})), FEATURES[:, :1], None)


def test_adaptive_rows_have_positions(tmp_path: Path) -> None:
    boxes = np.tile(np.float32([[0, 0, 0.5, 1, 0.5, 1]]), (6, 1))
    arrays = {"image_features": STACKED, "spatial_features": boxes, "pos_boxes": RANGES}
    found = read(save(tmp_path / "a.hdf5", arrays))
    check(found, [STACKED[start:end] for start, end in RANGES], [boxes[start:end, :4] for start, end in RANGES])


def test_padded_rows_have_a_number_of_boxes(tmp_path: Path) -> None:
    arrays = {"features": FEATURES, "boxes": RELATIVE, "num_boxes": np.array([1, 2, 1])}
    found = read(save(tmp_path / "a.h5", arrays))
    check(
        found,
        [FEATURES[row, :count] for row, count in enumerate([1, 2, 1])],
        [RELATIVE[0, :1], RELATIVE[1], RELATIVE[2, :1]],
    )


def test_whole_numbers_as_ids_names_and_a_key(tmp_path: Path) -> None:
    path = save(tmp_path / "a.h5", {"features": FEATURES, "other": FEATURES[:, :1], "image_ids": [7, 12, 391895]})
    assert list(read(path)) == ["7", "12", "391895"]
    assert read(path, key="other")["7"].features.shape == (1, D)
    path = save(path, {"features": FEATURES})
    assert list(read(path, names=["x", "y", "z"])) == ["x", "y", "z"]


def each(*fields: tuple[str, Any]) -> dict[str, Any]:
    """Data sets of every image, named by its id and a suffix."""
    return {name + suffix: values[row] for row, name in enumerate(IDS) for suffix, values in fields}


SIDES = (("/img_w", SIZES["image_w"]), ("/img_h", SIZES["image_h"]))
GROUPS: dict[str, dict[str, Any]] = {
    "groups": each(("/features", FEATURES), ("/boxes", PIXELS), *SIDES),
    "suffixes": each(("_features", FEATURES), ("_bbox", RELATIVE)),
    "plain names": each(("", FEATURES), ("_boxes", RELATIVE)),
}


@pytest.mark.parametrize("layout", GROUPS)
def test_a_group_or_data_set_an_image(tmp_path: Path, layout: str) -> None:
    path = save(tmp_path / "a.h5", GROUPS[layout])
    check(read(path), FEATURES, RELATIVE)
    check(read(path, boxes=False), FEATURES, None)


def test_groups_within_groups(tmp_path: Path) -> None:
    path = save(tmp_path / "a.h5", {"val/1/x": FEATURES[0], "val/2/x": FEATURES[1], "3": FEATURES[2]})
    assert list(read(path)) == ["3", "val/1", "val/2"]


def test_links_back_end(tmp_path: Path) -> None:
    path = save(tmp_path / "a.h5", {"val/1/x": FEATURES[0]})
    with h5py.File(path, "a") as file:
        file["val/back"] = file["/"]
        file["val/gone"] = h5py.SoftLink("/nowhere")
    with open_entries(path, IDS) as entries:
        good, gone = entries
        assert good.image == "val/1"
        good.read()
        with pytest.raises(DataError, match=r"a.h5, field 'val/gone': can't be read"):
            gone.read()


def rows(**others: Any) -> dict[str, Any]:
    return {"features": FEATURES, **others}


UNUSABLE: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "no ids": ({"features": FEATURES[:2]}, {}, "found 2 rows and no image_ids, expected 3, as there are images in"),
    "other names": (rows(), {"names": ["a"]}, "found 3 rows and no image_ids, expected 1, as there are lines in"),
    "names and ids": (rows(image_ids=[1, 2, 3]), {"names": IDS}, "found image_ids, and --names"),
    "fewer ids": (rows(image_ids=[1, 2]), {}, r"field 'image_ids': found shape \(2,\) of int64, expected 3 texts"),
    "ids of float": (rows(image_ids=[1.0, 2.0, 3.0]), {}, r"field 'image_ids': found shape \(3,\) of float64"),
    "two ids": (rows(image_ids=[1, 2, 3], ids=[1, 2, 3]), {}, "found image_ids and ids, expected one of them"),
    "other boxes": (rows(boxes=RELATIVE[:, :1]), {}, r"field 'boxes': found shape \(3, 1, 4\), expected \(3, 2, 4\)"),
    "other sizes": (rows(image_w=[1, 2], image_h=[1, 2]), {}, r"field 'image_w': found shape \(2,\) of int64"),
    "other positions": ({"features": STACKED, "pos_boxes": ENDS}, {}, r"field 'pos_boxes': found shape \(3,\)"),
    "two arrays": (rows(x=FEATURES), {}, "found features and x, expected one. Name one with --key"),
    "no such key": (rows(), {"key": "y"}, r"found features \(3, 2, 5\), expected 'y'"),
    "names of groups": (GROUPS["groups"], {"names": IDS}, "found no array with a row an image. Leave --names away"),
    "nothing": ({}, {}, "found no features, expected an array named features or"),
}


@pytest.mark.parametrize("case", UNUSABLE)
def test_files_that_do_not_fit(tmp_path: Path, case: str) -> None:
    arrays, options, reason = UNUSABLE[case]
    with pytest.raises(DataError, match=rf"a\.h5.*{reason}"):
        read(save(tmp_path / "a.h5", arrays), **options)


def with_nan(array: np.ndarray) -> np.ndarray:
    return np.where(array == array[1, 0, 0], np.nan, array)


DAMAGED: dict[str, tuple[dict[str, Any], str]] = {
    "not finite": ({"features": with_nan(FEATURES)}, "row 1, field 'features': found a number that isn't finite in r"),
    "no box": (rows(boxes=with_nan(RELATIVE)), r"row 1, field 'boxes': found the box \[nan"),
    "positions": ({"x": STACKED, "pos_boxes": [[0, 2], [5, 9], [2, 3]]}, "row 1, field 'pos_boxes': found rows 5 to 9"),
    "no region": ({"x": STACKED, "pos_boxes": [[0, 2], [2, 2], [2, 3]]}, "row 1, field 'features': found zero boxes"),
    "too many": (rows(num_boxes=[1, 3, 1]), "row 1, field 'num_boxes': found 3 boxes, expected at most 2"),
    "a wrong shape": (each(("", [FEATURES[0], FEATURES, FEATURES[2]])), r"field 'b.jpg': found shape \(3, 2, 5\)"),
    "a wrong box": (
        each(("/x", FEATURES), ("/bbox", [RELATIVE[0], PIXELS[1], RELATIVE[2]])),
        "field 'b.jpg/bbox': found the box .* as no width and height are given",
    ),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_one_damaged_image_leaves_the_others(tmp_path: Path, case: str) -> None:
    arrays, reason = DAMAGED[case]
    with open_entries(save(tmp_path / "a.h5", arrays), IDS) as entries:
        first, second, third = entries
        first.read()
        third.read()
        with pytest.raises(DataError, match=rf"a\.h5, {reason}"):
            second.read()


def test_files_that_are_no_hdf5_and_options_of_other_formats(tmp_path: Path) -> None:
    path = save(tmp_path / "a.h5", rows())
    with pytest.raises(ConfigError, match=r"--fields: .*a.h5 isn't TSV"):
        read(path, fields=["image_id"])
    with pytest.raises(ConfigError, match=r"--names, --key: .*a.tsv names its images itself"):
        read(tmp_path / "a.tsv", names=IDS)
    path.write_bytes(path.read_bytes()[:300])
    with pytest.raises(DataError, match=r"a.h5: not a whole HDF5 file"):
        read(path)
    with pytest.raises(DataError, match=r"none.h5: no such file"):
        read(tmp_path / "none.h5")
    with pytest.raises(DataError, match=r"found neither .npz nor .tsv files, expected one of the two"):
        read(tmp_path)
    np.savez(tmp_path / "a.npz", x=FEATURES[0])
    (tmp_path / "a.tsv").touch()
    with pytest.raises(DataError, match=r"found both .npz and .tsv files, expected one of the two"):
        read(tmp_path)
