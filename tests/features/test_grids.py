"""Region grids against a naive loop over bins, and PyTorch where it is installed."""

from __future__ import annotations

import math

import numpy as np
import pytest

from vse_zoo.features.grids import bins, grid_boxes, pooling_matrix

CASES = [(7, 7), (7, 3), (7, 1), (8, 3), (10, 4), (7, 5), (12, 6)]


@pytest.mark.parametrize(("cells", "count"), CASES)
def test_bins_follow_the_definition(cells: int, count: int) -> None:
    assert bins(cells, count) == [
        (math.floor(i * cells / count), math.ceil((i + 1) * cells / count)) for i in range(count)
    ]


@pytest.mark.parametrize(("cells", "count"), CASES)
def test_pooling_equals_torch(cells: int, count: int) -> None:
    torch = pytest.importorskip("torch")
    x = np.random.default_rng(0).normal(size=(2, cells, 7, 5)).astype("float32")
    ours = np.einsum("bhwd,ih,jw->bijd", x, pooling_matrix(cells, count), pooling_matrix(7, 3))
    theirs = torch.nn.functional.adaptive_avg_pool2d(torch.from_numpy(x).permute(0, 3, 1, 2), (count, 3))
    np.testing.assert_allclose(ours, theirs.permute(0, 2, 3, 1).numpy(), atol=1e-6)


def test_boxes_run_row_by_row_and_are_the_pooled_cells() -> None:
    expected = [[0, 0, 0.5, 1 / 3], [0.5, 0, 1, 1 / 3], [0, 1 / 3, 0.5, 2 / 3], [0.5, 1 / 3, 1, 2 / 3]]
    np.testing.assert_allclose(grid_boxes((3, 2), (3, 2))[:4], expected, rtol=1e-6)
    np.testing.assert_allclose(grid_boxes((7, 7), (1, 1)), [[0, 0, 1, 1]])
    np.testing.assert_allclose(grid_boxes((7, 7), (3, 3))[4], [2 / 7, 2 / 7, 5 / 7, 5 / 7], rtol=1e-6)
