"""Regions written image by image are the .npy files that NumPy would write, dense or stacked."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from vse_zoo.errors import DataError
from vse_zoo.features.precomputed import ImageRegions, Place, RegionsWriter

PLACE = Path("a.tsv")
RNG = np.random.default_rng(0)


def regions(count: int, dim: int = 5, dtype: str = "float32", boxes: bool = True) -> ImageRegions:
    corners = np.sort(RNG.random((count, 2, 2)), axis=1).reshape(count, 4).astype("float32") if boxes else None
    return ImageRegions(RNG.normal(size=(count, dim)).astype(dtype), corners)


def write(folder: Path, images: list[ImageRegions | None], half: bool = False) -> list[np.ndarray | None]:
    writer = RegionsWriter(folder, half)
    for image in images:
        if image is None:
            writer.leave_out()
        else:
            writer.add(Place(PLACE), image)
    done = writer.finish()
    return [None if path is None else np.load(path) for path in (done.regions, done.boxes, done.offsets)]


def test_equal_counts_are_dense_and_those_left_out_zero(tmp_path: Path) -> None:
    images = [None, None, regions(3), None, regions(3), None]
    features, boxes, offsets = write(tmp_path, images)
    assert offsets is None
    zeros = [np.zeros((3, 5), "float32"), np.zeros((3, 4), "float32")]
    expected = [zeros[0] if image is None else image.features for image in images]
    np.testing.assert_array_equal(features, np.stack(expected), strict=True)
    np.testing.assert_array_equal(
        boxes, np.stack([zeros[1] if i is None or i.boxes is None else i.boxes for i in images]), strict=True
    )


def test_varying_counts_are_stacked(tmp_path: Path) -> None:
    images = [regions(3), regions(1), regions(4)]
    features, boxes, offsets = write(tmp_path, [*images, None])
    np.testing.assert_array_equal(offsets, np.array([0, 3, 4, 8, 11]), strict=True)
    zeros = np.zeros((3, 5), "float32")
    np.testing.assert_array_equal(features, np.concatenate([*(i.features for i in images), zeros]), strict=True)
    assert boxes is not None
    assert boxes.shape == (11, 4)


@pytest.mark.parametrize(("dtype", "half", "stored"), [("float16", 0, "float16"), ("float32", 1, "float16")])
def test_half_precision(tmp_path: Path, dtype: str, half: int, stored: str) -> None:
    image = regions(2, dtype=dtype, boxes=False)
    features, boxes, _ = write(tmp_path, [image], bool(half))
    np.testing.assert_array_equal(features, image.features[None].astype(stored), strict=True)
    assert boxes is None


def test_the_header_can_be_read_by_mapping_and_by_its_own_rules(tmp_path: Path) -> None:
    write(tmp_path, [regions(3), regions(3)])
    path = tmp_path / "regions.npy"
    assert path.stat().st_size == 128 + 2 * 3 * 5 * 4
    with path.open("rb") as file:
        assert np.lib.format.read_magic(file) == (1, 0)
        assert np.lib.format.read_array_header_1_0(file) == ((2, 3, 5), False, np.dtype("float32"))
        assert file.tell() == 128
    assert np.load(path, mmap_mode="r").shape == (2, 3, 5)


@pytest.mark.parametrize(
    ("image", "reason"),
    [
        (regions(3, dim=4), r"field 'features': found float32 \(4\) numbers a region, expected float32 \(5\)"),
        (regions(3, dtype="float16"), r"found float16 \(5\) numbers a region, expected float32 \(5\) as of the first"),
        (regions(3, boxes=False), r"a.tsv, row 2: found no boxes, expected some as of the first image. Or pass --no-b"),
    ],
)
def test_an_image_unlike_the_first_is_refused_and_not_written(tmp_path: Path, image: ImageRegions, reason: str) -> None:
    first, last = regions(3), regions(3)
    writer = RegionsWriter(tmp_path)
    writer.add(Place(PLACE), first)
    with pytest.raises(DataError, match=reason):
        writer.add(Place(PLACE, 2), image)
    writer.add(Place(PLACE), last)
    np.testing.assert_array_equal(np.load(writer.finish().regions), np.stack([first.features, last.features]))


def test_numbers_beyond_half_precision(tmp_path: Path) -> None:
    writer = RegionsWriter(tmp_path, half=True)
    large = ImageRegions(np.full((1, 2), 70000, "float32"), None)
    with pytest.raises(DataError, match=r"row 3, field 'features': found a number that isn't finite in float16. Leave"):
        writer.add(Place(PLACE, 3), large)
    writer.close()
