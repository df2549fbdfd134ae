"""Maps of regions: where they are bright, and what they are between cells, against SciPy's interpolation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import RegularGridInterpolator
from scipy.ndimage import gaussian_filter

from vse_zoo.evaluation.heat import heat_maps


def grid_of(rows: int, columns: int) -> np.ndarray:
    cells = [(x, y, x + 1, y + 1) for y in range(rows) for x in range(columns)]
    return np.array(cells) / [columns, rows, columns, rows]


@pytest.mark.parametrize(("rows", "columns"), [(7, 7), (2, 3), (1, 4)])
def test_a_grid_is_linear_between_its_centres(rows: int, columns: int) -> None:
    values = np.random.default_rng(0).random((2, rows * columns))
    maps = heat_maps(values, grid_of(rows, columns), (rows, columns))
    places = (np.arange(84) + 0.5) / 84
    axes = [(np.arange(count) + 0.5) / count for count in (rows, columns)]
    clipped = [np.clip(places, axis[0], axis[-1]) for axis in axes]
    for each, found in zip(values.reshape(2, rows, columns), maps, strict=True):
        if rows == 1:
            expected = np.tile(np.interp(clipped[1], axes[1], each[0]), (84, 1))
        else:
            expected = RegularGridInterpolator(axes, each)(tuple(np.meshgrid(*clipped, indexing="ij")))
        softened = gaussian_filter(expected, 2, mode="nearest")
        np.testing.assert_allclose(found, softened, atol=1e-12)


def test_the_brightest_place_is_the_centre_of_the_brightest_cell() -> None:
    maps = heat_maps(np.eye(12), grid_of(3, 4), (3, 4))
    for number, heat in enumerate(maps):
        row, column = np.unravel_index(np.argmax(heat), heat.shape)
        assert (int(row) * 3 // 84, int(column) * 4 // 84) == divmod(number, 4)


def test_overlapping_boxes_show_the_larger_value_and_nothing_is_zero() -> None:
    boxes = np.array([[0, 0, 0.5, 1], [0.25, 0, 0.75, 1]])
    heat = heat_maps([[0.5, 1.0]], boxes)[0]
    assert heat[42, [8, 31, 52, 80]] == pytest.approx([0.5, 1, 1, 0], abs=0.02)
    assert heat_maps([[1.0]], [[0.3, 0.3, 0.3, 0.6]]).max() == 0
