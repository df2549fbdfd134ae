"""Bottom-up-attention TSV: every column order, and every kind of damage by file, row and field."""

from __future__ import annotations

import base64
import tracemalloc
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from vse_zoo.errors import DataError
from vse_zoo.features.precomputed import Place, RegionsWriter
from vse_zoo.features.precomputed.tsv import ANDERSON, is_tsv, parse_row, tsv_entries

LXMERT = ("img_id", "img_h", "img_w", "objects_id", "objects_conf", "attrs_id", "attrs_conf", *ANDERSON[3:])
BOXES = np.float32([[0, 0, 639, 100], [10, 20, 30, 470]])
RNG = np.random.default_rng(0)
FEATURES = RNG.normal(size=(2, 5)).astype("float32")
PLACE = Path("a.tsv")


def encoded(array: np.ndarray) -> bytes:
    return base64.b64encode(np.ascontiguousarray(array, "<f4").tobytes())


def row(image: str = "7", *, fields: Sequence[str] = ANDERSON, **values: bytes) -> bytes:
    """A row of two boxes in a picture of 640×480."""
    known = {
        "image_id": image.encode(),
        "image_w": b"640",
        "image_h": b"480",
        "num_boxes": b"2",
        "boxes": encoded(BOXES),
        "features": encoded(FEATURES),
        **values,
    }
    return b"\t".join(known.get(name.replace("img_", "image_"), b"AAAA") for name in fields)


def write(path: Path, *rows: bytes, end: bytes = b"\n") -> Path:
    path.write_bytes(b"".join(line + end for line in rows))
    return path


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize(
    ("fields", "header"),
    [
        (ANDERSON, False),
        (ANDERSON, True),
        (LXMERT, False),
        (LXMERT, True),
        (("image_id", "image_h", "image_w", "num_boxes", "boxes", "features"), False),
        (("features", "image_h", "boxes", "num_boxes", "image_w", "image_id", "source"), True),
    ],
)
def test_columns_in_any_order(tmp_path: Path, fields: Sequence[str], header: bool, end: bytes) -> None:
    first = ["\t".join(fields).encode()] if header else []
    path = write(tmp_path / "a.tsv", *first, row("7", fields=fields), b"", row("a 9.jpg", fields=fields), end=end)
    entries = list(tsv_entries(path))
    assert [(entry.image, entry.place) for entry in entries] == [
        ("7", Place(path, 1 + header)),
        ("a 9.jpg", Place(path, 3 + header)),
    ]
    for entry in entries:
        found = entry.read()
        np.testing.assert_array_equal(found.features, FEATURES, strict=True)
        expected = BOXES.astype(float) / [640, 480, 640, 480]
        np.testing.assert_array_equal(found.boxes, expected.astype("float32"), strict=True)


def test_given_columns_and_no_boxes(tmp_path: Path) -> None:
    fields = ("num_boxes", "features", "image_id")
    path = write(tmp_path / "a.tsv", row(fields=fields))
    with pytest.raises(DataError, match=r"a.tsv, row 1: found 3 columns without a header, expected image_id.*--fields"):
        list(tsv_entries(path))
    (entry,) = tsv_entries(path, ["num_boxes", "features", "img_id"])
    assert entry.image == "7"
    assert entry.read().boxes is None
    (entry,) = tsv_entries(write(path, row(boxes=b"!")), boxes=False)
    assert entry.read().boxes is None
    with pytest.raises(DataError, match=r"row 1: found the columns image_id, boxes, expected"):
        list(tsv_entries(path, ["image_id", "boxes"]))
    with pytest.raises(DataError, match=r"row 1: found a header, and --fields. Leave"):
        list(tsv_entries(write(path, "\t".join(ANDERSON).encode()), ANDERSON))


def test_a_last_row_without_line_end(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tsv", row("1") + b"\n" + row("2"), end=b"")
    assert [len(entry.read().features) for entry in tsv_entries(path)] == [2, 2]


def test_one_damaged_row_leaves_the_order_and_the_others_as_they_are(tmp_path: Path) -> None:
    tall = {"image_w": b"480", "image_h": b"640"}
    path = write(tmp_path / "a.tsv", row("1"), row("2", **tall), row("3"))
    first, second, third = tsv_entries(path)
    assert first.read().equals(third.read())
    with pytest.raises(DataError, match=r"a.tsv, row 2, field 'boxes': found the box \[0.0, 0.0, 639.0, 100.0\]"):
        second.read()


DAMAGED: dict[str, tuple[bytes, str]] = {
    "bad base64": (row(features=b"*" + encoded(FEATURES)), r"row 4, field 'features': found '\*.*expected base64"),
    "a bytes literal": (row(boxes=b"b'AAAA'"), r"row 4, field 'boxes': found .*expected base64"),
    "half a number": (row(features=base64.b64encode(b"12345")), "field 'features': found 5 bytes, expected float32"),
    "no features": (row(features=b""), "field 'features': found 0 bytes, expected float32"),
    "fewer boxes": (row(boxes=encoded(BOXES[:1])), r"field 'boxes': found 4 numbers, expected 8 of 2 boxes"),
    "another number": (row(num_boxes=b"3"), r"field 'features': found 40 bytes, expected float32 .* num_boxes = 3"),
    "zero boxes": (row(num_boxes=b"0", boxes=b"", features=b""), "field 'num_boxes': found zero boxes"),
    "minus one": (row(num_boxes=b"-1"), "field 'num_boxes': found '-1', expected a whole number"),
    "no number": (row(image_w=b"wide"), "field 'image_w': found 'wide', expected a whole number"),
    "no width": (row(image_w=b"0"), "field 'boxes': found a picture of size 0, expected its width and height"),
    "truncated": (row()[:-30], r"field 'features': found "),
    "cut off earlier": (row().rpartition(b"\t")[0], r"row 4: found 5 columns, expected 6: image_id, .*cut off"),
    "a column more": (row() + b"\t1", r"row 4: found 7 columns, expected 6"),
    "not finite": (row(features=encoded(FEATURES * [[1], [np.inf]])), "a number that isn't finite in region 1"),
    "a box of NaN": (row(boxes=encoded(BOXES * np.float32([1, 1, np.nan, 1]))), r"field 'boxes': found the box \[0.0"),
    "out of the picture": (
        row(boxes=encoded(BOXES + np.float32([0, 0, 3, 0]))),
        r"box \[0.0, 0.0, 642.0, 100.0\] .* 640×480",
    ),
    "turned round": (row(boxes=encoded(BOXES[:, [2, 1, 0, 3]])), r"expected x0 ≤ x1, y0 ≤ y1"),
    "relative": (row(boxes=encoded(BOXES / 640)), "found all boxes within one pixel of a picture .* may be relative"),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_damage_is_named_and_the_rest_can_be_read(tmp_path: Path, case: str) -> None:
    line, reason = DAMAGED[case]
    path = write(tmp_path / "a.tsv", row("1"), row("2"), row("3"), line, row("5"))
    entries = list(tsv_entries(path))
    assert [entry.image for entry in entries] == ["1", "2", "3", "7", "5"]
    with pytest.raises(DataError, match=rf"a\.tsv, .*{reason}"):
        entries[3].read()
    assert len(entries[4].read().features) == 2


def test_boxes_within_a_pixel_are_clipped(tmp_path: Path) -> None:
    corners = np.float32([[-1, -0.5, 641, 481], [0, 0, 640, 480]])
    (entry,) = tsv_entries(write(tmp_path / "a.tsv", row(boxes=encoded(corners))))
    np.testing.assert_array_equal(entry.read().boxes, np.float32([[0, 0, 1, 1], [0, 0, 1, 1]]), strict=True)


def test_files_that_are_no_tsv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataError, match=r"none.tsv: no such file"):
        list(tsv_entries(tmp_path / "none.tsv"))
    with pytest.raises(DataError, match=r"a.tsv, row 1: found 0 columns without a header"):
        list(tsv_entries(write(tmp_path / "a.tsv")))
    monkeypatch.setattr("vse_zoo.features.precomputed.tsv._LONGEST_LINE", 1000)
    with pytest.raises(DataError, match=r"a.tsv, row 2: found a line of 1000 bytes or more"):
        list(tsv_entries(write(tmp_path / "a.tsv", row(), b"\0" * 2000)))


def test_memory_is_that_of_few_images(tmp_path: Path) -> None:
    large = row(features=encoded(RNG.normal(size=(2, 10_000))))
    path = write(tmp_path / "a.tsv", *[large] * 100)
    writer = RegionsWriter(tmp_path)
    tracemalloc.start()
    try:
        for entry in tsv_entries(path):
            writer.add(entry.place, entry.read())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 60 * len(large)  # the 32 lines that the order of the columns is looked up in, and one image
    assert np.load(writer.finish().regions, mmap_mode="r").shape == (100, 2, 10_000)


@pytest.mark.parametrize(
    ("name", "yes"), [("a.tsv", 1), ("a.TSV", 1), ("x.tsv.0", 1), ("x.tsv.12", 1), ("a.tsv.gz", 0)]
)
def test_names(name: str, yes: int) -> None:
    assert is_tsv(Path(name)) == bool(yes)


@given(
    data=st.data(),
    count=st.integers(1, 4),
    dim=st.integers(1, 5),
    width=st.integers(17, 3000),
    height=st.integers(17, 3000),
)
def test_a_row_comes_back_as_it_was(data: st.DataObject, count: int, dim: int, width: int, height: int) -> None:
    numbers = st.floats(-(2.0**100), 2.0**100, width=32)
    features = data.draw(arrays("float32", (count, dim), elements=numbers))
    shares = data.draw(arrays("float64", (count, 2, 2), elements=st.floats(0, 1)))
    boxes = (np.sort(shares, axis=1) * [width, height]).reshape(count, 4).astype("float32")
    boxes[0, 2:] = width, height
    values = {"image_w": b"%d" % width, "image_h": b"%d" % height, "num_boxes": b"%d" % count}
    found = parse_row(Place(PLACE), row(boxes=encoded(boxes), features=encoded(features), **values), ANDERSON)
    np.testing.assert_array_equal(found.features, features, strict=True)
    assert found.boxes is not None
    np.testing.assert_allclose(found.boxes * np.float64([width, height] * 2), boxes, rtol=1e-6, atol=1e-4)


@given(data=st.data())
def test_a_row_with_any_bytes_changed_is_read_or_refused_with_its_place(data: st.DataObject) -> None:
    line = bytearray(row())
    for place in data.draw(st.lists(st.integers(0, len(line) - 1), min_size=1, max_size=4)):
        line[place] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(line)))
    try:
        found = parse_row(Place(PLACE, 3), bytes(line[:cut]), ANDERSON)
    except DataError:
        with pytest.raises(DataError, match=r"^a.tsv, row 3"):
            parse_row(Place(PLACE, 3), bytes(line[:cut]), ANDERSON)
        return
    assert found.boxes is not None
    assert len(found.features) == len(found.boxes) > 0
    assert np.isfinite(found.features).all()
    assert ((found.boxes >= 0) & (found.boxes <= 1)).all()
