"""OTSimilarity: its plans are those of transport_plan, its scores their costs."""

from __future__ import annotations

import numpy as np
import pytest

from vse_zoo.layers import OTSimilarity
from vse_zoo.ops import transport_plan


@pytest.mark.parametrize("feasible", [False, True])
def test_scores_are_the_costs_of_the_plans(feasible: bool) -> None:
    random = np.random.default_rng(0)
    regions, words = random.normal(size=(3, 5, 4)), random.normal(size=(2, 6, 4))
    regions, words = (x / np.linalg.norm(x, axis=2, keepdims=True) for x in (regions, words))
    region_mask, word_mask = np.arange(5) < np.array([[5], [1], [3]]), np.arange(6) < np.array([[4], [6]])
    layer = OTSimilarity(beta=0.3, iterations=15, feasible=feasible)
    scores, plans = layer(regions, words, region_mask=region_mask, word_mask=word_mask, return_plans=True)
    plans = plans.numpy()
    assert plans.shape == (3, 2, 5, 6)
    for i, j in np.ndindex(3, 2):
        cost = 1 - regions[i] @ words[j].T
        own = transport_plan(
            cost[None], region_mask[i][None], word_mask[j][None], beta=0.3, iterations=15, feasible=feasible
        )
        np.testing.assert_allclose(plans[i, j], own.plan[0], atol=1e-6)
        np.testing.assert_allclose(scores[i, j], -np.sum(own.plan[0] * cost), atol=1e-6)
        assert not np.any(plans[i, j][~region_mask[i]])
        assert not np.any(plans[i, j][:, ~word_mask[j]])


def test_without_masks_all_items_are_real() -> None:
    random = np.random.default_rng(1)
    regions, words = random.normal(size=(2, 3, 4)), random.normal(size=(2, 3, 4))
    everything = np.ones((2, 3), bool)
    layer = OTSimilarity()
    masked = layer(regions, words, region_mask=everything, word_mask=everything)
    np.testing.assert_array_equal(layer(regions, words), masked)


def test_impossible_settings_are_refused() -> None:
    with pytest.raises(ValueError, match="expected beta > 0"):
        OTSimilarity(beta=-1.0)
