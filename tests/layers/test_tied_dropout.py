"""TiedDropout: one mask for two, variance kept."""

from __future__ import annotations

import numpy as np
import pytest

from vse_zoo.layers import TiedDropout

H = np.random.default_rng(0).normal(size=(2000, 50)).astype("float32")
G = np.random.default_rng(1).normal(size=(2000, 50)).astype("float32")


def test_the_same_neurons_are_dropped_on_both_sides() -> None:
    h, g = TiedDropout(0.5, seed=0)(H, G, training=True)
    np.testing.assert_array_equal(h.numpy() == 0, g.numpy() == 0)


@pytest.mark.parametrize("rate", [0.2, 0.5, 0.8])
def test_rate_and_variance_are_as_stated(rate: float) -> None:
    """100,000 draws: the share dropped has a deviation below 0.0016, the variance of about 0.01."""
    h, _ = TiedDropout(rate, seed=1)(H, G, training=True)
    kept = h.numpy() != 0
    assert abs(1 - kept.mean() - rate) < 0.008
    np.testing.assert_allclose(h.numpy()[kept], H[kept] / np.sqrt(1 - rate), rtol=1e-5)
    assert abs(h.numpy().var() / H.var() - 1) < 0.06


def test_nothing_is_dropped_at_inference_or_at_rate_0() -> None:
    for layer, training in ((TiedDropout(0.5), False), (TiedDropout(0.0), True)):
        h, g = layer(H, G, training=training)
        np.testing.assert_array_equal(h, H)
        np.testing.assert_array_equal(g, G)


def test_masks_differ_from_call_to_call() -> None:
    layer = TiedDropout(0.5, seed=0)
    assert not np.array_equal(layer(H, G, training=True)[0], layer(H, G, training=True)[0])


@pytest.mark.parametrize("rate", [-0.1, 1.0])
def test_an_impossible_rate_is_refused(rate: float) -> None:
    with pytest.raises(ValueError, match="rate must be at least 0 and below 1"):
        TiedDropout(rate)
