"""Pictures of every kind to regions: against a plain loop over pixels, alone and in batches, and what can't be read."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
from PIL import Image

from vse_zoo.errors import ImageError, PresetError
from vse_zoo.features import Backbone, PictureEncoder, backbones, picture_encoder

SIDEWAYS = 6
"""The EXIF orientation of a picture that is upright when turned right by 90 degrees."""


def noise(height: int = 30, width: int = 44, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)


def plain(upright: np.ndarray, backbone: Backbone) -> np.ndarray:
    """(4, 6): squeezed by Pillow, convolved in float64, averaged over 2×2 cells, rounded to float16."""
    pixels = np.asarray(Image.fromarray(upright).resize((32, 32), Image.Resampling.BICUBIC)) / 128.0 - 1.0
    kernel, bias = backbone._network.get_weights()
    blocks = pixels.reshape(4, 8, 4, 8, 3).transpose(0, 2, 1, 3, 4)
    cells = np.einsum("hwyxc,yxcd->hwd", blocks, kernel.astype(np.float64)) + bias
    return cells.reshape(2, 2, 2, 2, 6).mean((1, 3)).reshape(4, 6).astype(np.float16)


@pytest.fixture(scope="module")
def encoder(tiny_backbone: Backbone) -> PictureEncoder:
    return PictureEncoder(tiny_backbone)


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    Image.fromarray(noise()).save(tmp_path / "photo.png")
    return tmp_path / "photo.png"


def test_every_kind_of_picture_gives_the_regions_of_a_plain_loop(
    encoder: PictureEncoder, tiny_backbone: Backbone, photo: Path
) -> None:
    opened, pixels = io.BytesIO(photo.read_bytes()), noise()
    kinds: list[Any] = [photo, str(photo), opened, Image.open(photo), Image.fromarray(pixels), pixels]
    expected = plain(pixels, tiny_backbone)
    found = encoder.encode(kinds)
    assert (found.shape, found.dtype) == ((len(kinds), 4, 6), np.float32)
    for each in found:
        np.testing.assert_array_equal(each, found[0])
    # One step of float16: sums in float32 may fall on the other side of a rounding limit.
    np.testing.assert_allclose(found[0], expected.astype(np.float32), rtol=2**-10, atol=1e-4)
    np.testing.assert_array_equal(found, found.astype(np.float16))
    opened.seek(0)
    for picture in kinds:
        np.testing.assert_array_equal(encoder.encode(picture), found[0])


def test_grey_and_transparent_pixels(encoder: PictureEncoder) -> None:
    pixels = noise()
    grey, clear = pixels[..., 0], np.concatenate([pixels, np.full((30, 44, 1), 255, np.uint8)], 2)
    found = encoder.encode([grey, grey[..., None], np.stack([grey] * 3, 2)])
    np.testing.assert_array_equal(found, found[:1].repeat(3, 0))
    np.testing.assert_array_equal(encoder.encode(clear), encoder.encode(pixels))
    white = encoder.encode(np.full((5, 5, 3), 255, np.uint8))
    np.testing.assert_array_equal(encoder.encode(0 * clear), white)


def test_pictures_are_turned_upright(encoder: PictureEncoder, tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = SIDEWAYS
    Image.fromarray(noise()).save(tmp_path / "sideways.png", exif=exif)
    upright = encoder.encode(np.rot90(noise(), -1))
    for picture in (tmp_path / "sideways.png", Image.open(tmp_path / "sideways.png")):
        np.testing.assert_array_equal(encoder.encode(picture), upright)
    assert not np.array_equal(encoder.encode(noise()), upright)


def test_boxes_are_those_of_the_regions(encoder: PictureEncoder) -> None:
    picture = np.zeros((40, 80, 3), np.uint8)
    picture[20:, :40] = 200  # the lower left quarter
    changed = np.abs(encoder.encode(picture) - encoder.encode(0 * picture)).max(axis=1)
    assert np.argmax(changed) == 2
    np.testing.assert_array_equal(encoder.boxes[2], [0, 0.5, 0.5, 1])
    assert (encoder.grid, encoder.image_size) == ((2, 2), 32)


@pytest.fixture(scope="module")
def built_in() -> PictureEncoder:
    return PictureEncoder(backbones.get("efficientnet_lite0", (3, 3)))


def test_a_picture_alone_is_computed_as_in_a_batch(built_in: PictureEncoder) -> None:
    pictures = [noise(20, 30, seed) for seed in range(5)]
    together = built_in.encode(pictures)
    for number, picture in enumerate(pictures[:2]):
        np.testing.assert_array_equal(built_in.encode(picture), built_in.encode([picture] * 2)[0])
        np.testing.assert_array_equal(built_in.encode(picture), built_in.encode(pictures[:2])[number])
    for batch_size in (1, 2, 3):
        # One step of float16: a processor may sum larger batches in another order.
        found = built_in.encode(pictures, batch_size)
        np.testing.assert_allclose(found, together, rtol=2**-10, atol=1e-4)


def test_keras_policy_changes_no_regions(built_in: PictureEncoder) -> None:
    before = keras.config.dtype_policy()
    try:
        keras.config.set_dtype_policy("mixed_bfloat16")
        found = PictureEncoder(backbones.get("efficientnet_lite0", (3, 3))).encode(noise())
        assert keras.config.dtype_policy().name == "mixed_bfloat16"
    finally:
        keras.config.set_dtype_policy(before)
    np.testing.assert_array_equal(found, built_in.encode(noise()))


def test_too_large_numbers_are_cut_to_those_of_float16() -> None:
    pixels = keras.Input((8, 8, 3))
    network = keras.Model(pixels, keras.layers.Rescaling(1e4)(keras.layers.GlobalAveragePooling2D()(pixels)))
    encoder = PictureEncoder(Backbone("large", network, lambda x: x - 100.0, image_size=8))
    found = encoder.encode([np.full((8, 8, 3), 255, np.uint8), np.zeros((8, 8, 3), np.uint8)])
    np.testing.assert_array_equal(found[:, 0], [[65504.0] * 3, [-65504.0] * 3])


def test_every_picture_that_can_not_be_read_is_named(encoder: PictureEncoder, photo: Path) -> None:
    damaged = photo.with_name("damaged.png")
    damaged.write_bytes(photo.read_bytes()[:300])
    missing = photo.with_name("missing.jpg")
    with pytest.raises(ImageError, match=r"^[^\n]*missing\.jpg: no such file\.$"):
        encoder.encode(missing)
    with pytest.raises(ImageError, match=r"^[^\n]*damaged\.png: can't be decoded"):
        encoder.encode([photo, Image.open(damaged)])
    with pytest.raises(ImageError, match=r"(?s)3 of 6 pictures.*damaged\.png.*missing\.jpg.*pictures\[5\]: found a"):
        encoder.encode([photo, damaged, photo, missing, photo, None], batch_size=2)  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("picture", "found"),
    [
        (noise() / 255, r"float64 and shape \(30, 44, 3\)"),
        (noise().astype(np.int64), "int64"),
        (noise()[..., :2], r"shape \(30, 44, 2\)"),
        (noise()[:0], r"shape \(0, 44, 3\)"),
        (noise().transpose(2, 0, 1), r"shape \(3, 30, 44\)"),
    ],
)
def test_arrays_that_are_no_pictures(encoder: PictureEncoder, picture: np.ndarray, found: str) -> None:
    with pytest.raises(ImageError, match=rf"pictures\[1\]: found an array of .*{found}.*, expected pixels"):
        encoder.encode([noise(), picture])


def test_no_picture_is_an_error(encoder: PictureEncoder) -> None:
    with pytest.raises(ValueError, match="pictures: found none"):
        encoder.encode([])


def test_progress_is_shown_for_more_than_a_batch(encoder: PictureEncoder, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[int] = []

    class Bar:
        def __enter__(self) -> Bar:
            return self

        def __exit__(self, *error: object) -> None: ...

        def advance(self, count: int) -> None:
            steps.append(count)

    monkeypatch.setattr(picture_encoder, "progress", lambda text, total: steps.append(total) or Bar())
    encoder.encode([noise()] * 4, batch_size=4)
    assert steps == []
    encoder.encode([noise()] * 5, batch_size=2)
    assert steps == [5, 2, 2, 1]


def test_what_is_recorded_gives_the_backbone(tiny_by_name: Backbone) -> None:
    assert backbones.recorded("Model", "tiny", [2, 2]) is tiny_by_name
    with pytest.raises(PresetError, match=r"^Model: nothing records which backbone .*'dataset\.backbone'.* Pass backb"):
        backbones.recorded("Model", None, None)
    with pytest.raises(PresetError, match=r"nothing records the grid of its regions by 'tiny' .*'dataset\.grid'"):
        backbones.recorded("Model", "tiny", None)
    for name, grid, reason in (
        ("precomputed: a.tsv", (1, 1), "no backbone is called"),
        ("efficientnet_lite0", (9, 9), "efficientnet_lite0: a grid of 9×9"),
    ):
        with pytest.raises(PresetError, match=rf"regions come from '{name}', which can't be computed here: {reason}"):
            backbones.recorded("Model", name, grid)
