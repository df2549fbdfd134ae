"""DiversityLoss against a naive float64 loop in all three forms, and its gradients."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import tensorflow as tf
from scipy.optimize import approx_fprime

from vse_zoo.losses import DiversityLoss

BATCH, HEADS, DIM, MARGIN = 4, 3, 5, 0.1

FORMS: dict[str, Callable[[float], float]] = {
    "similarity": lambda cosine: max(0.0, cosine - MARGIN),
    "distance": lambda cosine: max(0.0, cosine - (1 - MARGIN)),
    "as_printed": lambda cosine: max(0.0, MARGIN - cosine),
}


def naive(heads: np.ndarray, others: np.ndarray, mask: np.ndarray, form: str, mean: bool = False) -> float:
    total = 0.0
    for p in np.flatnonzero(mask):
        for k in range(heads.shape[1]):
            for r in range(heads.shape[1]):
                if k != r:
                    lengths = np.linalg.norm(heads[p, k]) * np.linalg.norm(others[p, r])
                    total += FORMS[form](float(heads[p, k] @ others[p, r] / lengths))
    return total / max(mask.sum(), 1) if mean else total


def draw(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Heads with a common direction, so that all forms have terms above their margin."""
    generator = np.random.default_rng(seed)
    spread = generator.uniform(0.1, 2.0, (2, BATCH, 1, 1))
    heads = generator.normal(size=(1, BATCH, 1, DIM)) + spread * generator.normal(size=(2, BATCH, HEADS, DIM))
    return heads[0].astype("float32"), heads[1].astype("float32"), generator.random(BATCH) < 0.7


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("reduction", ["sum", "mean"])
@pytest.mark.parametrize("seed", range(8))
def test_equals_the_naive_loop(form: str, reduction: str, seed: int) -> None:
    heads, others, mask = draw(seed)
    loss = DiversityLoss(MARGIN, form, reduction)
    mean = reduction == "mean"
    np.testing.assert_allclose(loss(heads, others, mask=mask), naive(heads, others, mask, form, mean), atol=2e-5)
    everything = np.ones(BATCH, bool)
    np.testing.assert_allclose(loss(heads, heads), naive(heads, heads, everything, form, mean), atol=2e-5)


@pytest.mark.parametrize("form", FORMS)
def test_gradients_equal_finite_differences(form: str) -> None:
    heads, others, mask = draw(3)
    first, second = tf.Variable(heads), tf.Variable(others)
    with tf.GradientTape() as tape:
        value = DiversityLoss(MARGIN, form)(first, second, mask=mask)
    actual = np.concatenate([np.ravel(gradient) for gradient in tape.gradient(value, [first, second])])

    def numeric(flat: np.ndarray) -> float:
        return naive(*flat.reshape(2, BATCH, HEADS, DIM), mask, form)

    expected = approx_fprime(np.ravel([heads, others]).astype(np.float64), numeric, 1e-7)
    np.testing.assert_allclose(actual, expected, atol=1e-4)
    assert np.abs(expected).max() > 0.01


@pytest.mark.parametrize(("form", "per_pair"), [("similarity", 0.9), ("distance", 0.1), ("as_printed", 0.0)])
def test_heads_that_agree_cost_each_ordered_pair_once(form: str, per_pair: float) -> None:
    heads = np.ones((2, HEADS, DIM), "float32")
    np.testing.assert_allclose(DiversityLoss(MARGIN, form)(heads, heads), 2 * 6 * per_pair, atol=1e-5)


@pytest.mark.parametrize("form", FORMS)
def test_a_single_head_costs_nothing(form: str) -> None:
    heads = draw(0)[0][:, :1]
    assert float(DiversityLoss(form=form)(heads, heads)) == 0.0


def test_zero_heads_have_finite_gradients() -> None:
    heads = tf.Variable(tf.zeros((2, HEADS, DIM)))
    with tf.GradientTape() as tape:
        value = DiversityLoss(form="as_printed")(heads, heads)
    np.testing.assert_allclose(value, 2 * 6 * MARGIN, rtol=1e-6)
    assert np.all(np.isfinite(tape.gradient(value, heads)))


@pytest.mark.parametrize("arguments", [{"form": "printed"}, {"reduction": "none"}])
def test_unknown_options_are_refused(arguments: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="must be"):
        DiversityLoss(**arguments)


def test_masked_heads_do_not_count() -> None:
    """The last head of the first view and the first of the other: what is left are the pairs of the others."""
    heads, others, mask = draw(3)
    first, second = (np.broadcast_to(np.array(real), (BATCH, HEADS)) for real in ([1, 1, 0], [0, 1, 1]))
    loss = DiversityLoss(MARGIN, "similarity")
    found = loss(heads, others, mask=mask, heads_mask=first, other_heads_mask=second)
    pairs = [(k, r) for k in (0, 1) for r in (1, 2) if k != r]
    spoiled = naive_pairs(heads, others, mask, pairs)
    np.testing.assert_allclose(found, spoiled, rtol=1e-5)


def naive_pairs(heads: np.ndarray, others: np.ndarray, mask: np.ndarray, pairs: list[tuple[int, int]]) -> float:
    unit = [view / np.linalg.norm(view, axis=2, keepdims=True) for view in (heads, others)]
    terms = [FORMS["similarity"](float(unit[0][p, k] @ unit[1][p, r])) for p in np.flatnonzero(mask) for k, r in pairs]
    return sum(terms)
