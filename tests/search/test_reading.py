"""Large photos are decoded small, and look the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from vse_zoo.images import load_image, square_pixels
from vse_zoo.search.reading import read_photos


def picture(size: tuple[int, int]) -> Image.Image:
    """Smooth colours, a corner that tells which way is up, and noise."""
    random = np.random.default_rng(0)
    coarse = Image.fromarray(random.integers(0, 256, (7, 9, 3)).astype(np.uint8)).resize(size, Image.Resampling.BICUBIC)
    pixels = np.asarray(coarse).astype(int) + random.integers(-20, 21, (size[1], size[0], 3))
    pixels[: size[1] // 4, : size[0] // 4] = 255
    return Image.fromarray(pixels.clip(0, 255).astype(np.uint8))


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("mode", ["RGB", "L", "CMYK"])
def test_a_large_jpeg_gives_the_square_of_the_whole_picture(tmp_path: Path, orientation: int, mode: str) -> None:
    exif = Image.Exif()
    exif[0x0112] = orientation
    picture((1200, 800)).convert(mode).save(tmp_path / "a.jpg", exif=exif, quality=92)
    ((photo,),) = read_photos(tmp_path, ["a.jpg"], set(), 56, 1)
    expected = square_pixels(load_image(tmp_path / "a.jpg"), 56).astype(int)
    assert photo.pixels is not None
    assert np.abs(photo.pixels - expected).max() <= 8
    assert np.abs(photo.pixels - expected).mean() < 1


@pytest.mark.parametrize("name", ["a.png", "small.jpg"])
def test_other_pictures_are_decoded_whole(tmp_path: Path, name: str) -> None:
    picture((100, 90) if name == "small.jpg" else (1200, 800)).save(tmp_path / name)
    ((photo,),) = read_photos(tmp_path, [name], set(), 56, 1)
    np.testing.assert_array_equal(photo.pixels, square_pixels(load_image(tmp_path / name), 56))


@pytest.mark.parametrize("kept", [0.3, 0.97])
def test_a_large_jpeg_that_was_cut_off_is_not_taken_for_whole(tmp_path: Path, kept: float) -> None:
    picture((1200, 800)).save(tmp_path / "a.jpg")
    content = (tmp_path / "a.jpg").read_bytes()
    (tmp_path / "a.jpg").write_bytes(content[: int(kept * len(content))])
    ((photo,),) = read_photos(tmp_path, ["a.jpg"], set(), 56, 1)
    assert photo.pixels is None
    assert "truncated" in (photo.reason or "")


def test_batches_keep_the_order_and_equal_contents_are_decoded_once(tmp_path: Path) -> None:
    for number in range(7):
        Image.new("RGB", (9, 9), (number // 2, 0, 0)).save(tmp_path / f"{number}.png")
    paths = [f"{number}.png" for number in range(7)]
    batches = list(read_photos(tmp_path, paths, set(), 8, 3))
    assert [[photo.path for photo in batch] for batch in batches] == [paths[:3], paths[3:6], paths[6:]]
    photos = [photo for batch in batches for photo in batch]
    assert [photo.pixels is not None for photo in photos] == [True, False, True, False, True, False, True]
    assert len({photo.digest for photo in photos}) == 4
    assert list(read_photos(tmp_path, [], set(), 8, 3)) == []
