"""load_image on every kind of picture file, against pixels known beforehand."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, features

from vse_zoo.errors import ImageError
from vse_zoo.images import is_picture, load_image, optional_formats, read_picture, square_pixels

RAMP = np.arange(48, dtype=np.uint8).reshape(4, 4, 3) * 5


def saved(tmp_path: Path, image: Image.Image, name: str, **options: object) -> Path:
    path = tmp_path / name
    image.save(path, **options)
    return path


def pixels(path: Path) -> np.ndarray:
    image = load_image(path)
    assert image.mode == "RGB"
    return np.asarray(image)


def test_rgb_is_unchanged(tmp_path: Path) -> None:
    np.testing.assert_array_equal(pixels(saved(tmp_path, Image.fromarray(RAMP), "a.png")), RAMP)


def test_open_file_object() -> None:
    buffer = io.BytesIO()
    Image.fromarray(RAMP).save(buffer, "PNG")
    buffer.seek(0)
    np.testing.assert_array_equal(np.asarray(load_image(buffer)), RAMP)


@pytest.mark.parametrize(
    ("orientation", "turn"),
    [
        (2, lambda x: x[:, ::-1]),
        (3, lambda x: np.rot90(x, 2)),
        (4, lambda x: x[::-1]),
        (5, lambda x: x.transpose(1, 0, 2)),
        (6, lambda x: np.rot90(x, -1)),
        (7, lambda x: np.rot90(x, 2).transpose(1, 0, 2)),
        (8, lambda x: np.rot90(x, 1)),
    ],
)
def test_exif_orientation(tmp_path: Path, orientation: int, turn: object) -> None:
    exif = Image.Exif()
    exif[0x0112] = orientation
    stored = np.ascontiguousarray(RAMP[:3])  # 3×4, so that a missed quarter turn changes the shape
    path = saved(tmp_path, Image.fromarray(stored), "a.png", exif=exif)
    np.testing.assert_array_equal(pixels(path), turn(stored))


@pytest.mark.parametrize("name", ["a.png", "a.tif"])
def test_sixteen_bits_are_scaled(tmp_path: Path, name: str) -> None:
    grey = np.array([[0, 257, 65535], [32768, 300, 65278]], np.uint16)
    expected = np.rint(grey / 257).astype(np.uint8)
    np.testing.assert_array_equal(pixels(saved(tmp_path, Image.fromarray(grey), name)), np.dstack([expected] * 3))


def test_float_tiff(tmp_path: Path) -> None:
    path = saved(tmp_path, Image.fromarray(np.array([[0.0, 0.5, 1.0]], np.float32)), "a.tif")
    np.testing.assert_array_equal(pixels(path)[0, :, 0], [0, 128, 255])


def test_cmyk(tmp_path: Path) -> None:
    path = saved(tmp_path, Image.new("CMYK", (16, 16), (0, 255, 255, 0)), "a.jpg", quality=100)
    np.testing.assert_allclose(pixels(path)[8, 8], [255, 0, 0], atol=3)


def test_alpha_lies_over_white(tmp_path: Path) -> None:
    path = saved(
        tmp_path, Image.fromarray(np.array([[[0, 0, 0, 0], [200, 0, 0, 255], [0, 0, 0, 51]]], np.uint8)), "a.png"
    )
    np.testing.assert_array_equal(pixels(path)[0], [[255, 255, 255], [200, 0, 0], [204, 204, 204]])


def test_transparent_palette_and_grey(tmp_path: Path) -> None:
    palette = Image.new("P", (2, 1))
    palette.putpalette([10, 20, 30, 40, 50, 60])
    palette.putpixel((1, 0), 1)
    path = saved(tmp_path, palette, "a.png", transparency=0)
    np.testing.assert_array_equal(pixels(path)[0], [[255, 255, 255], [40, 50, 60]])
    np.testing.assert_array_equal(pixels(saved(tmp_path, Image.new("L", (1, 1), 7), "b.png")), [[[7, 7, 7]]])


def test_animation_gives_its_first_frame(tmp_path: Path) -> None:
    frames = [Image.new("RGB", (3, 3), colour) for colour in ("red", "blue")]
    path = saved(tmp_path, frames[0], "a.gif", save_all=True, append_images=frames[1:])
    assert (pixels(path) == [255, 0, 0]).all()


@pytest.mark.parametrize("content", [b"", b"not a picture", b"\x89PNG\r\n\x1a\n" + b"\0" * 40, b"\xff\xd8\xff\xe0junk"])
def test_unreadable_names_the_file(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "broken.jpg").write_bytes(content)
    with pytest.raises(ImageError, match=r"broken\.jpg"):
        load_image(tmp_path / "broken.jpg")


@pytest.mark.parametrize("name", ["a.jpg", "a.png", "a.gif"])
def test_truncated(tmp_path: Path, name: str) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    path = saved(tmp_path, Image.fromarray(noise), name)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(ImageError, match=name):
        load_image(path)


def test_missing(tmp_path: Path) -> None:
    with pytest.raises(ImageError, match="no such file"):
        load_image(tmp_path / "a.jpg")


HALVES = np.zeros((48, 64, 3), np.uint8)
HALVES[:, :32] = (200, 30, 30)
HALVES[:24, 32:] = (30, 200, 30)
"""Left red, right above green, right below black."""


@pytest.mark.parametrize("orientation", [1, 3, 6])
def test_heic(tmp_path: Path, orientation: int) -> None:
    heif = pytest.importorskip("pillow_heif", reason="pip install 'vse-zoo[search]'")
    turns = {1: 0, 3: 2, 6: -1}  # quarter turns to the left that a viewer makes
    exif = Image.Exif()
    exif[0x0112] = orientation
    # Two pictures, of which the second is the primary one; a file of an iPhone holds others beside the photo, too.
    file = heif.HeifFile()
    file.add_from_pillow(Image.new("RGB", (64, 48), "blue"))
    file.add_from_pillow(Image.fromarray(HALVES))
    file.save(tmp_path / "a.HEIC", quality=95, primary_index=1, exif=exif.tobytes())
    assert optional_formats()[0] == "HEIF"
    expected = np.rot90(HALVES, turns[orientation])
    found = pixels(tmp_path / "a.HEIC")
    assert found.shape == expected.shape
    # It is compressed with loss: the colours of whole areas stay.
    assert np.abs(found.astype(int) - expected).mean() < 6
    (tmp_path / "a.HEIC").rename(tmp_path / "a.jpg")
    np.testing.assert_array_equal(pixels(tmp_path / "a.jpg"), found)
    np.testing.assert_array_equal(np.asarray(load_image(tmp_path / "a.jpg", side=4)), found)


@pytest.mark.usefixtures("without_heif")
@pytest.mark.parametrize("name", ["a.heic", "A.HEIF", "a.hif", "a.jpg"])
def test_heic_names_the_package_that_is_missing(tmp_path: Path, name: str) -> None:
    # Of a.jpg the bytes tell, of the others the ending too.
    (tmp_path / name).write_bytes(b"\0\0\0\x18ftypheic\0\0\0\0" if name == "a.jpg" else b"")
    with pytest.raises(ImageError) as caught:
        load_image(tmp_path / name)
    said = "HEIC needs the package pillow-heif, which isn't installed. Run: pip install pillow-heif"
    assert str(caught.value) == f"{tmp_path / name}: {said}"
    assert "HEIF" not in optional_formats()


@pytest.mark.usefixtures("without_heif")
def test_other_pictures_need_no_package(tmp_path: Path) -> None:
    path = saved(tmp_path, Image.fromarray(RAMP), "a.png").rename(tmp_path / "a.heic")
    np.testing.assert_array_equal(pixels(path), RAMP)
    (tmp_path / "b.jpg").write_bytes(b"junk")
    with pytest.raises(ImageError, match=r"b\.jpg: can't be decoded as a picture \(cannot identify image file"):
        load_image(tmp_path / "b.jpg")
    with pytest.raises(ImageError, match=r"picture: HEIC needs the package pillow-heif"):
        load_image(io.BytesIO(b"\0\0\0\x18ftypmif1\0\0\0\0"))


def test_damaged_heic_is_no_missing_package(tmp_path: Path) -> None:
    pytest.importorskip("pillow_heif", reason="pip install 'vse-zoo[search]'")
    (tmp_path / "a.heic").write_bytes(b"\0\0\0\x18ftypheic\0\0\0\0")
    with pytest.raises(ImageError, match=r"a\.heic: can't be decoded as a picture"):
        load_image(tmp_path / "a.heic")


def test_avif(tmp_path: Path) -> None:
    if not features.check("avif"):
        pytest.skip("this Pillow was built without AVIF")
    path = saved(tmp_path, Image.fromarray(HALVES), "a.avif", quality=95)
    assert np.abs(pixels(path).astype(int) - HALVES).mean() < 6


@pytest.mark.parametrize("name", ["a.avif", "a.jpg"])
def test_avif_names_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(features, "check", lambda feature: False)
    (tmp_path / name).write_bytes(b"\0\0\0\x18ftypavif\0\0\0\0")
    with pytest.raises(ImageError, match=r"AVIF needs a Pillow that decodes it\. Run: pip install --upgrade pillow"):
        load_image(tmp_path / name)


def test_square_of_one_pixel_and_of_a_strip() -> None:
    assert (square_pixels(Image.new("RGB", (1, 1), (1, 2, 3)), 8) == [1, 2, 3]).all()
    assert square_pixels(Image.new("RGB", (3000, 1)), 8).shape == (8, 8, 3)


def test_square_keeps_relative_places() -> None:
    left_half = np.zeros((40, 80, 3), np.uint8)
    left_half[:, :40] = 255
    square = square_pixels(Image.fromarray(left_half), 16)
    assert (square[:, :6] == 255).all()
    assert (square[:, 10:] == 0).all()


def photo(size: tuple[int, int]) -> Image.Image:
    """Smooth colours, a corner that tells which way is up, and noise."""
    random = np.random.default_rng(0)
    coarse = Image.fromarray(random.integers(0, 256, (7, 9, 3)).astype(np.uint8)).resize(size, Image.Resampling.BICUBIC)
    pixels = np.asarray(coarse).astype(int) + random.integers(-20, 21, (size[1], size[0], 3))
    pixels[: size[1] // 4, : size[0] // 4] = 255
    return Image.fromarray(pixels.clip(0, 255).astype(np.uint8))


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("mode", ["RGB", "L", "CMYK"])
def test_a_large_jpeg_decoded_small_gives_the_square_of_the_whole(tmp_path: Path, orientation: int, mode: str) -> None:
    exif = Image.Exif()
    exif[0x0112] = orientation
    photo((1200, 800)).convert(mode).save(tmp_path / "a.jpg", exif=exif, quality=92)
    image = load_image(tmp_path / "a.jpg", 56)
    assert min(image.size) < 400
    expected = square_pixels(load_image(tmp_path / "a.jpg"), 56).astype(int)
    found = square_pixels(image, 56)
    assert np.abs(found - expected).max() <= 8
    assert np.abs(found - expected).mean() < 1


@pytest.mark.parametrize("name", ["a.png", "small.jpg"])
def test_other_pictures_are_decoded_whole(tmp_path: Path, name: str) -> None:
    photo((100, 90) if name == "small.jpg" else (1200, 800)).save(tmp_path / name)
    np.testing.assert_array_equal(np.asarray(load_image(tmp_path / name, 56)), np.asarray(load_image(tmp_path / name)))


def test_one_picture_is_told_from_several(tmp_path: Path) -> None:
    for one in ("a.jpg", tmp_path, Image.new("RGB", (1, 1)), io.BytesIO(), RAMP, RAMP[..., 0]):
        assert is_picture(one)
    for several in (["a.jpg"], ("a.jpg",), [], iter(["a.jpg"]), RAMP[None], np.array(["a.jpg", "b.jpg"]), None):
        assert not is_picture(several)


def test_a_file_is_read_as_by_load_image(tmp_path: Path) -> None:
    large = Image.fromarray(RAMP).resize((500, 400))
    path = saved(tmp_path, large, "a.jpg")
    for side in (None, 100):
        expected = np.asarray(load_image(path, side))
        for picture in (path, str(path), io.BytesIO(path.read_bytes())):
            np.testing.assert_array_equal(np.asarray(read_picture(picture, side)), expected)
    np.testing.assert_array_equal(np.asarray(read_picture(Image.open(path), 100)), np.asarray(load_image(path)))


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "L", "LA", "P", "CMYK", "I;16", "F"])
def test_a_pillow_image_is_read_as_its_file_is(tmp_path: Path, mode: str) -> None:
    image = Image.fromarray(RAMP).convert("L" if mode in ("I;16", "F") else mode)
    image = image.convert("I").convert(mode) if mode == "I;16" else image.convert(mode)
    path = saved(tmp_path, image, "a.tif")
    np.testing.assert_array_equal(np.asarray(read_picture(image)), pixels(path))
    np.testing.assert_array_equal(np.asarray(read_picture(Image.open(path))), pixels(path))


def test_reading_leaves_the_image_as_it_is() -> None:
    image = Image.fromarray(RAMP)
    image.getexif()[0x0112] = 6
    for _ in range(2):
        np.testing.assert_array_equal(np.asarray(read_picture(image)), np.rot90(RAMP, -1))
    np.testing.assert_array_equal(np.asarray(image), RAMP)


@pytest.mark.parametrize("picture", [None, 7, b"content", ["a.jpg"]])
def test_what_is_no_picture_is_named(picture: object) -> None:
    with pytest.raises(ImageError, match=f"third: found a {type(picture).__name__}, expected a path, an opened file"):
        read_picture(picture, name="third")  # type: ignore[arg-type]
    with pytest.raises(ImageError, match="third: can't be decoded"):
        read_picture(io.BytesIO(b"content"), name="third")
