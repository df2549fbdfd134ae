"""Photos are read in batches, each content once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from vse_zoo.images import load_image, square_pixels
from vse_zoo.search.reading import read_photos


def test_a_large_jpeg_is_decoded_small_and_looks_the_same(tmp_path: Path) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (7, 9, 3)).astype(np.uint8)
    Image.fromarray(noise).resize((1200, 800), Image.Resampling.BICUBIC).save(tmp_path / "a.jpg", quality=92)
    ((photo,),) = read_photos(tmp_path, ["a.jpg"], set(), 56, 1)
    assert photo.pixels is not None
    np.testing.assert_array_equal(photo.pixels, square_pixels(load_image(tmp_path / "a.jpg", 56), 56))
    assert np.abs(photo.pixels - square_pixels(load_image(tmp_path / "a.jpg"), 56).astype(int)).max() <= 8


@pytest.mark.parametrize("kept", [0.3, 0.97])
def test_a_large_jpeg_that_was_cut_off_is_not_taken_for_whole(tmp_path: Path, kept: float) -> None:
    Image.effect_noise((1200, 800), 60).save(tmp_path / "a.jpg")
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
