"""Picture files sent to a served model: the pixels are Pillow's, the vectors those of `vse-zoo features`."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from PIL import Image

from vse_zoo.errors import ConfigError
from vse_zoo.features import extract_regions
from vse_zoo.images import load_image, square_pixels
from vse_zoo.serving import export_saved_model
from vse_zoo.serving.pictures import decode_picture, square

Photo = Callable[..., bytes]


def pillow(contents: bytes) -> np.ndarray:
    return np.asarray(load_image(io.BytesIO(contents)))


@pytest.mark.parametrize(("width", "height"), [(37, 91), (500, 375), (32, 32), (31, 33), (3, 1), (1000, 64)])
def test_resized_as_by_pillow(width: int, height: int) -> None:
    pixels = np.random.default_rng(width).integers(0, 256, (height, width, 3)).astype("uint8")
    np.testing.assert_array_equal(square(tf.constant(pixels), 32), square_pixels(Image.fromarray(pixels), 32))


@pytest.mark.parametrize("options", [{}, {"quality": 30}, {"progressive": True}, {"subsampling": 0}])
def test_jpeg_is_decoded_as_by_pillow(photo: Photo, options: dict[str, Any]) -> None:
    contents = photo((71, 45), **options)
    np.testing.assert_array_equal(decode_picture(tf.constant(contents)), pillow(contents))


@pytest.mark.parametrize(
    ("size", "halved"),
    [((127, 200), 1), ((128, 128), 2), ((320, 256), 4), ((300, 257), 4), ((513, 700), 8), ((90, 900), 1)],
)
@pytest.mark.parametrize("options", [{}, {"progressive": True}])
def test_large_jpegs_are_decoded_smaller_as_by_pillow(
    photo: Photo, size: tuple[int, int], halved: int, options: dict[str, Any]
) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    contents = photo(size, exif=exif, **options)
    found = decode_picture(tf.constant(contents), 32)
    assert found.shape[:2] == (-(-size[0] // halved), -(-size[1] // halved))
    np.testing.assert_array_equal(found, np.asarray(load_image(io.BytesIO(contents), 32)))


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "L", "LA", "P"])
def test_png_is_decoded_as_by_pillow(mode: str) -> None:
    pixels = np.random.default_rng(2).integers(0, 256, (20, 30, 4)).astype("uint8")
    buffer = io.BytesIO()
    Image.fromarray(pixels, "RGBA").convert(mode).save(buffer, "PNG")
    np.testing.assert_array_equal(decode_picture(tf.constant(buffer.getvalue())), pillow(buffer.getvalue()))


@pytest.mark.parametrize("orientation", range(10))
@pytest.mark.parametrize("byte_order", ["<", ">"])
def test_pictures_are_turned_upright(photo: Photo, orientation: int, byte_order: str) -> None:
    exif = Image.Exif()
    exif.endian = byte_order
    exif[0x010F], exif[0x0112] = "maker", orientation
    contents = photo((24, 16), exif=exif)
    np.testing.assert_array_equal(decode_picture(tf.constant(contents)), pillow(contents))


@pytest.mark.parametrize("tail", [b"", b"I", b"II*\x00\xff\xff\xff\x7f", b"MM\x00*\xff\xff\xff\xff"])
def test_damaged_exif_counts_as_none(photo: Photo, tail: bytes) -> None:
    contents = photo((24, 16))
    segment = b"Exif\x00\x00" + tail
    damaged = contents[:2] + b"\xff\xe1" + (len(segment) + 2).to_bytes(2, "big") + segment + contents[2:]
    np.testing.assert_array_equal(decode_picture(tf.constant(damaged)), pillow(contents))


@pytest.mark.parametrize("name", ["attention", "transport"])
def test_vectors_are_those_of_extracted_features(
    serve: Any, backbone: Any, photo: Photo, tmp_path: Path, name: str
) -> None:
    served = serve(name)
    contents = [photo((70, 45)), photo((20, 64), "PNG"), photo((32, 32), quality=40), photo((300, 290))]
    found = served.ask("encode_image_bytes", image=contents)
    names, images = list("abcd"), [load_image(io.BytesIO(each), 32) for each in contents]
    extraction = extract_regions(names, images.__getitem__, backbone, tmp_path, fingerprint="")
    expected = served.model.encode_image(np.load(extraction.regions_path))
    if name == "transport":
        assert found["n_regions"].tolist() == expected.counts.tolist()
        expected = expected.padded()[0]
    # The last bit of a convolution may decide to which float16 a feature is rounded.
    np.testing.assert_allclose(found["embedding"], expected, atol=1e-4)
    for one, contents_of_one in zip(found["embedding"], contents, strict=True):
        alone = served.ask("encode_image_bytes", image=[contents_of_one])["embedding"][0]
        np.testing.assert_allclose(alone, one, atol=1e-6)


def test_a_damaged_picture_is_an_error(serve: Any, photo: Photo) -> None:
    contents = photo()
    for damaged in (contents[: len(contents) // 2], contents[:20], b"", b"no picture", photo(kind="PNG")[:60]):
        with pytest.raises(tf.errors.InvalidArgumentError):
            serve("attention").ask("encode_image_bytes", image=[contents, damaged])
    with pytest.raises(tf.errors.InvalidArgumentError, match="image: found an empty batch"):
        serve("attention").ask("encode_image_bytes", image=np.array([], object).astype(bytes))


def test_regions_of_another_size_do_not_fit(serve: Any, backbone: Any, tmp_path: Path) -> None:
    model = type(serve("attention").model)(serve("attention").model.preprocessor, 7, units=4, heads=1, word_dim=3)
    with pytest.raises(ConfigError, match="tiny: gives regions of 6 numbers, the model was trained on 7"):
        export_saved_model(model, tmp_path / "other", backbone=backbone)
    assert not list(tmp_path.iterdir())
