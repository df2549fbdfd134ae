"""IoU against counted pixels, and both ways to take a phrase of several boxes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vse_zoo.evaluation.grounding import box_iou, centres_inside, enclosing_box
from vse_zoo.evaluation.grounding.boxes import regions_found

CORNER = st.integers(0, 12)
BOX = st.tuples(CORNER, CORNER, CORNER, CORNER)


def pixels(box: tuple[int, ...]) -> np.ndarray:
    x0, y0, x1, y1 = box
    drawn = np.zeros((12, 12), bool)
    drawn[y0 : max(y0, y1), x0 : max(x0, x1)] = True
    return drawn


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.lists(BOX, min_size=1, max_size=4), st.lists(BOX, min_size=1, max_size=4))
def test_iou_is_the_share_of_pixels(boxes: list[tuple[int, ...]], others: list[tuple[int, ...]]) -> None:
    found = box_iou(np.array(boxes) / 12, np.array(others) / 12)
    for i, box in enumerate(boxes):
        for j, other in enumerate(others):
            union = (pixels(box) | pixels(other)).sum()
            expected = (pixels(box) & pixels(other)).sum() / union if union else 0.0
            assert found[i, j] == pytest.approx(expected, abs=1e-12)


def test_iou_by_hand() -> None:
    assert box_iou([[0, 0, 1, 1]], [[0, 0, 1, 1], [0, 0, 1, 0.5], [0.5, 0, 1.5, 1], [2, 2, 3, 3]]).tolist() == [
        [1, 0.5, pytest.approx(1 / 3), 0]
    ]


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.lists(BOX, min_size=1, max_size=5))
def test_the_enclosing_box_is_that_of_all_corners(boxes: list[tuple[int, ...]]) -> None:
    columns = list(zip(*boxes, strict=True))
    assert enclosing_box(boxes).tolist() == [[min(columns[0]), min(columns[1]), max(columns[2]), max(columns[3])]]


def test_any_box_or_the_box_around_all() -> None:
    apart = [(0.0, 0.0, 0.25, 1.0), (0.75, 0.0, 1.0, 1.0)]
    regions = np.array([[0, 0, 0.25, 1], [0, 0, 1, 1], [0.3, 0, 0.7, 1], [0.75, 0, 1, 0.5]], np.float32)
    assert regions_found(regions, apart, "any").tolist() == [True, False, False, True]
    assert regions_found(regions, apart, "union").tolist() == [False, True, False, False]


def test_exactly_half_in_single_precision_counts() -> None:
    region = np.array([[0.1, 0.1, 0.3, 0.2]], np.float32)
    assert regions_found(region, [(0.1, 0.1, 0.3, 0.3)], "any").tolist() == [True]
    assert regions_found(region * np.float32(0.999), [(0.1, 0.1, 0.3, 0.3)], "any").tolist() == [False]


def test_centres_on_the_edge_are_inside() -> None:
    regions = [[0, 0, 0.5, 0.5], [0.5, 0.5, 1, 1], [0, 0, 1, 1]]
    assert centres_inside(regions, [(0.25, 0.25, 0.4, 0.4), (0.7, 0.7, 0.8, 0.8)]).tolist() == [True, True, False]
