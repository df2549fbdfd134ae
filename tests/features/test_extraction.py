"""extract_regions against a plain loop; bad pictures, strictness, and kills at any moment."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import keras
import numpy as np
import pytest
from PIL import Image

from vse_zoo.errors import DataError, ImageError
from vse_zoo.features import Backbone, extract_regions
from vse_zoo.images import load_image, square_pixels

COUNT = 23


def small_backbone() -> Backbone:
    keras.utils.set_random_seed(0)
    pixels = keras.Input((32, 32, 3))
    network = keras.Model(pixels, keras.layers.Conv2D(5, 8, 8, activation="relu")(pixels))
    return Backbone("small", network, lambda x: x / 255.0, image_size=32, grid=(2, 2))


@pytest.fixture
def photos(tmp_path: Path) -> list[Path]:
    (tmp_path / "photos").mkdir()
    noise = np.random.default_rng(1)
    paths = [tmp_path / "photos" / f"{i:02}.png" for i in range(COUNT)]
    for path in paths:
        Image.fromarray(noise.integers(0, 256, (20, 30, 3), dtype=np.uint8)).save(path)
    return paths


def extract(photos: list[Path], out: Path, **options: object):
    names = [path.name for path in photos]
    settings = {"fingerprint": "a", "batch_size": 4} | options
    opener = settings.pop("opener", lambda i: load_image(photos[i]))
    return extract_regions(names, opener, small_backbone(), out, **settings)


def test_equals_a_plain_loop(photos: list[Path], tmp_path: Path) -> None:
    result = extract(photos, tmp_path / "out")
    kernel, bias = small_backbone()._network.get_weights()
    regions = np.load(result.regions_path, mmap_mode="r")
    assert (regions.shape, regions.dtype) == ((COUNT, 4, 5), np.float16)
    for row in (0, 3, COUNT - 1):
        blocks = (square_pixels(load_image(photos[row]), 32) / 255.0).reshape(4, 8, 4, 8, 3).transpose(0, 2, 1, 3, 4)
        cells = np.maximum(np.einsum("hwyxc,yxcd->hwd", blocks, kernel) + bias, 0.0)
        expected = cells.reshape(2, 2, 2, 2, 5).mean((1, 3)).reshape(4, 5)
        np.testing.assert_allclose(regions[row], expected, rtol=2e-3, atol=1e-4)
    boxes = np.load(result.boxes_path)
    assert boxes.shape == (COUNT, 4, 4)
    np.testing.assert_array_equal(boxes[-1], [[0, 0, 0.5, 0.5], [0.5, 0, 1, 0.5], [0, 0.5, 0.5, 1], [0.5, 0.5, 1, 1]])
    assert result.left_out == {}
    assert not list((tmp_path / "out").glob("*partial*"))


def test_bad_pictures_are_left_out_by_name(photos: list[Path], tmp_path: Path) -> None:
    reference = np.load(extract(photos, tmp_path / "good").regions_path)
    photos[5].write_bytes(photos[5].read_bytes()[:200])
    photos[22].unlink()
    result = extract(photos, tmp_path / "out")
    assert list(result.left_out) == ["05.png", "22.png"]
    assert "no such file" in result.left_out["22.png"]
    regions = np.load(result.regions_path)
    assert not regions[[5, 22]].any()
    kept = np.setdiff1d(np.arange(COUNT), [5, 22])
    np.testing.assert_array_equal(regions[kept], reference[kept])


def test_odd_pictures_are_handled(tmp_path: Path) -> None:
    pictures = {
        "cmyk.jpg": Image.new("CMYK", (9, 9)),
        "sixteen.png": Image.fromarray(np.full((5, 5), 40000, np.uint16)),
        "one.png": Image.new("RGB", (1, 1)),
        "alpha.png": Image.new("RGBA", (4, 90)),
        "moving.gif": Image.new("P", (8, 8)),
    }
    for name, picture in pictures.items():
        picture.save(tmp_path / name)
    assert extract([tmp_path / name for name in pictures], tmp_path / "out").left_out == {}


def test_strict_lists_every_bad_picture_and_writes_nothing(photos: list[Path], tmp_path: Path) -> None:
    for i in (2, 20):
        photos[i].write_bytes(b"junk")
    with pytest.raises(DataError, match=r"(?s)2 of 23 pictures.*02\.png.*20\.png"):
        extract(photos, tmp_path / "out", strict=True)
    assert not (tmp_path / "out" / "regions.npy").exists()
    assert len(extract(photos, tmp_path / "out").left_out) == 2


def test_no_readable_picture_and_no_picture_at_all(photos: list[Path], tmp_path: Path) -> None:
    for path in photos:
        path.write_bytes(b"junk")
    with pytest.raises(DataError, match="23 of 23 pictures can't be read"):
        extract(photos, tmp_path / "out")
    Image.new("RGB", (8, 8)).save(photos[3])
    assert len(extract(photos, tmp_path / "out").left_out) == 22, "what failed as a whole is tried again"
    with pytest.raises(DataError, match="no pictures"):
        extract([], tmp_path / "none")


def test_one_reason_for_all_pictures_is_said_once(photos: list[Path], tmp_path: Path) -> None:
    def opener(i: int) -> Image.Image:
        raise ImageError("the folder is gone.")

    with pytest.raises(DataError) as caught:
        extract(photos, tmp_path / "out", opener=opener)
    assert str(caught.value).count("the folder is gone") == 1
    assert str(caught.value).endswith("\n  each of them: the folder is gone.")


def interrupted(photos: list[Path], out: Path, at: int) -> None:
    def opener(i: int) -> Image.Image:
        if i == at:
            raise KeyboardInterrupt
        return load_image(photos[i])

    with pytest.raises(KeyboardInterrupt):
        extract(photos, out, opener=opener)


@pytest.mark.parametrize("at", [0, 9, 22])
def test_resumes_to_the_same_bytes(photos: list[Path], tmp_path: Path, at: int) -> None:
    photos[1].write_bytes(b"junk")
    whole = extract(photos, tmp_path / "whole")
    interrupted(photos, tmp_path / "out", at)
    done = json.loads((tmp_path / "out" / "extraction.json").read_text())["done"]
    assert done == at // 4 * 4
    opened: list[int] = []
    result = extract(photos, tmp_path / "out", opener=lambda i: opened.append(i) or load_image(photos[i]))
    assert min(opened) == done
    assert result.left_out == whole.left_out
    assert result.regions_path.read_bytes() == whole.regions_path.read_bytes()


def test_finished_extraction_is_taken_as_it_is(photos: list[Path], tmp_path: Path) -> None:
    before = extract(photos, tmp_path / "out").regions_path.stat().st_mtime_ns
    result = extract(photos, tmp_path / "out", opener=lambda i: pytest.fail("opened again"))
    assert result.regions_path.stat().st_mtime_ns == before


@pytest.mark.parametrize("damage", ["fingerprint", "note", "rows"])
def test_other_or_damaged_runs_start_over_with_a_reason(
    photos: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str], damage: str
) -> None:
    out = tmp_path / "out"
    interrupted(photos, out, 12)
    if damage == "note":
        (out / "extraction.json").write_text("{")
    if damage == "rows":
        (out / "regions.partial.npy").write_bytes(b"")
    opened: list[int] = []
    changed = {"fingerprint": "b"} if damage == "fingerprint" else {}
    extract(photos, out, opener=lambda i: opened.append(i) or load_image(photos[i]), **changed)
    assert min(opened) == 0
    assert "starting over" in capsys.readouterr().err


def test_survives_kill_9(photos: list[Path], tmp_path: Path) -> None:
    script = f"""
        import sys, time
        from pathlib import Path
        sys.path.insert(0, {str(Path(__file__).parent)!r})
        from test_extraction import extract, load_image
        photos = sorted(Path({str(tmp_path / "photos")!r}).iterdir())
        def slow(i):
            time.sleep(0.05)
            return load_image(photos[i])
        extract(photos, Path({str(tmp_path / "out")!r}), opener=slow)
    """
    root = str(Path(__file__).parents[2])
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)], env=os.environ | {"PYTHONPATH": root})
    note = tmp_path / "out" / "extraction.json"
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and process.poll() is None:
        if note.is_file() and json.loads(note.read_text())["done"] >= 4:
            break
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert 4 <= json.loads(note.read_text())["done"] < COUNT
    resumed = extract(photos, tmp_path / "out")
    assert resumed.regions_path.read_bytes() == extract(photos, tmp_path / "whole").regions_path.read_bytes()
