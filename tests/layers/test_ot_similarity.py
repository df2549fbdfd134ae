"""OTSimilarity: its plans are those of transport_plan, its scores their costs."""

from __future__ import annotations

import keras
import numpy as np
import pytest

from vse_zoo.layers import OTSimilarity
from vse_zoo.layers.set_similarity import SetSimilarity
from vse_zoo.models.optimal_transport.similarity import AlignmentSimilarity
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


SCORES = [OTSimilarity(iterations=5), AlignmentSimilarity(iterations=5)]


def sets() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(2)
    regions, words = random.normal(size=(3, 5, 4)), random.normal(size=(2, 6, 4))
    regions, words = (x / np.linalg.norm(x, axis=2, keepdims=True) for x in (regions, words))
    return regions, words, np.arange(5) < np.array([[5], [1], [3]]), np.arange(6) < np.array([[4], [6]])


@pytest.mark.parametrize("layer", SCORES)
def test_older_names_of_the_masks_and_their_places_still_work(layer: SetSimilarity) -> None:
    regions, words, *masks = sets()
    expected = layer(regions, words, regions_mask=masks[0], words_mask=masks[1])
    assert not np.allclose(expected, layer(regions, words), atol=1e-3)
    np.testing.assert_array_equal(layer(regions, words, region_mask=masks[0], word_mask=masks[1]), expected)
    tensors = [keras.ops.convert_to_tensor(value) for value in (regions, words, *masks)]
    np.testing.assert_array_equal(layer(*tensors), expected)


@pytest.mark.parametrize("layer", SCORES)
def test_masks_of_keras_layers_count(layer: SetSimilarity) -> None:
    """Scores of padded sets after `keras.layers.Masking` were off by up to 0.058."""
    regions, words, *masks = sets()
    padded = [np.where(mask[:, :, None], items, 9.0) for items, mask in zip((regions, words), masks, strict=True)]
    masking = keras.layers.Masking(9.0)
    expected = layer(regions, words, regions_mask=masks[0], words_mask=masks[1])
    np.testing.assert_allclose(layer(*map(masking, padded)), expected, atol=1e-6)
    symbols = keras.Input((5, 4)), keras.Input((6, 4))
    model = keras.Model(symbols, layer(*map(masking, symbols)))
    np.testing.assert_allclose(model.predict_on_batch([*padded]), expected, atol=1e-6)


@pytest.mark.parametrize("layer", SCORES)
def test_a_given_mask_comes_before_that_of_a_keras_layer(layer: SetSimilarity) -> None:
    regions, words, mask, _ = sets()
    implicit = keras.layers.Masking(0.0)(regions)
    np.testing.assert_array_equal(layer(implicit, words, region_mask=mask), layer(regions, words, regions_mask=mask))
