"""The drawn parts of a report: attention over a picture, curves, thumbnails."""

from __future__ import annotations

import numpy as np
from PIL import Image

from vse_zoo.evaluation.pictures import attention_maps, curve_svg, thumbnail


def picture(side: int = 40) -> Image.Image:
    return Image.fromarray(np.full((side, side, 3), 128, np.uint8))


def test_attention_is_bright_where_its_box_is() -> None:
    boxes = np.array([[0, 0, 0.5, 0.5], [0.5, 0, 1, 0.5], [0, 0.5, 0.5, 1], [0.5, 0.5, 1, 1]])
    maps = attention_maps(picture(80), np.array([[0, 0, 0, 1.0], [1.0, 0, 0, 0]]), boxes)
    for heat, (y, x) in zip(maps, [(60, 60), (20, 20)], strict=True):
        pixels = np.asarray(heat).astype(int).sum(-1)
        assert heat.size == (80, 80)
        assert pixels[y, x] > pixels[20 if y == 60 else 60, x] + 60


def test_a_small_box_outshines_a_large_one_of_equal_weight() -> None:
    boxes = np.array([[0, 0, 1, 0.5], [0.4, 0.7, 0.6, 0.9]])
    pixels = np.asarray(attention_maps(picture(80), np.array([[0.5, 0.5]]), boxes)[0]).astype(int).sum(-1)
    assert pixels[64, 40] > pixels[20, 40] + 60


def test_all_zero_weights_and_empty_boxes_draw_without_warning() -> None:
    with np.errstate(all="raise"):
        attention_maps(picture(), np.zeros((1, 2)), np.array([[0, 0, 1, 1], [0.5, 0.5, 0.5, 0.5]]))


def test_the_best_epoch_is_named() -> None:
    svg = curve_svg([0, 1, 2], [100.0, 300.0, 200.0], "dev rsum", "max")
    assert "best 300 in epoch 1" in svg
    assert "currentColor" in svg
    assert svg == curve_svg([0, 1, 2], [100.0, 300.0, 200.0], "dev rsum", "max")


def test_thumbnails_keep_their_proportions() -> None:
    assert thumbnail(Image.new("CMYK", (800, 400)), 200).size == (200, 100)


def test_a_grids_attention_has_no_seams_where_boxes_overlap() -> None:
    edges = [(0, 0.5), (0.25, 0.75), (0.5, 1)]
    boxes = np.array([(x0, y0, x1, y1) for y0, y1 in edges for x0, x1 in edges])
    flat, seamed = (
        np.asarray(attention_maps(picture(80), np.full((1, 9), 1 / 9), boxes, grid)[0]).astype(int).sum(-1)
        for grid in ((3, 3), None)
    )
    assert np.ptp(flat) <= 3
    assert np.ptp(seamed) > 60


def test_curves_have_a_name_for_those_who_hear_the_page() -> None:
    assert 'role="img" aria-label="loss &amp; co by epoch, from 3 to 1"' in curve_svg([0, 1], [3.0, 1.0], "loss & co")
