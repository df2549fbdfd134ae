"""Views of a picture: the mirror image, and parts whose place and size are read off a picture of coordinates."""

from __future__ import annotations

import numpy as np
from PIL import Image

from vse_zoo.features import picture_view

WIDTH, HEIGHT = 200, 120


def coordinates() -> Image.Image:
    """Red is the column, green the row."""
    pixels = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
    pixels[..., 0], pixels[..., 1] = np.arange(WIDTH), np.arange(HEIGHT)[:, None]
    return Image.fromarray(pixels)


def test_number_0_is_the_mirror_image() -> None:
    whole = np.asarray(coordinates())
    np.testing.assert_array_equal(np.asarray(picture_view(coordinates(), 3, 0)), whole[:, ::-1])


def test_others_are_parts_of_at_least_half_the_area_and_half_of_them_mirrored() -> None:
    mirrored, areas, corners = [], [], []
    for index in range(200):
        part = np.asarray(picture_view(coordinates(), index, 1)).astype(int)
        height, width = part.shape[:2]
        step = int(part[0, 1, 0] - part[0, 0, 0])
        assert abs(step) == 1
        left, top = part[0, :, 0].min(), part[0, 0, 1]
        columns = np.arange(left, left + width)
        np.testing.assert_array_equal(part[..., 0], np.broadcast_to(columns[::step], (height, width)))
        np.testing.assert_array_equal(part[..., 1], np.broadcast_to(top + np.arange(height)[:, None], (height, width)))
        assert abs(width / height - WIDTH / HEIGHT) < 0.05
        mirrored.append(step < 0)
        areas.append(width * height / (WIDTH * HEIGHT))
        corners.append((left / max(1, WIDTH - width), top / max(1, HEIGHT - height)))
    # Means of 200: six standard errors of a coin and of uniform numbers.
    assert abs(np.mean(mirrored) - 0.5) < 6 * 0.5 / 200**0.5
    assert 0.49 < min(areas) < 0.55
    assert 0.95 < max(areas) <= 1.0
    assert np.abs(np.mean(corners, axis=0) - 0.5).max() < 6 * 0.29 / 200**0.5


def test_a_view_depends_on_index_and_number_alone() -> None:
    one, same, other, next_ = (picture_view(coordinates(), *key).tobytes() for key in ((5, 1), (5, 1), (6, 1), (5, 2)))
    assert one == same
    assert len({one, other, next_}) == 3


def test_a_picture_of_one_pixel_has_views() -> None:
    assert picture_view(Image.new("RGB", (1, 1), "red"), 0, 1).getpixel((0, 0)) == (255, 0, 0)
