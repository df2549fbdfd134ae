"""TripletLoss against a naive float64 loop: masks, equal ids, warm-up, reductions, gradients."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from scipy.optimize import approx_fprime

from vse_zoo.losses import TripletLoss

SIZE, MARGIN = 6, 0.2


def naive(
    scores: np.ndarray, ids: np.ndarray, rows: np.ndarray, columns: np.ndarray, share: float, mean: bool = False
) -> float:
    """Hinges one by one; ``share`` is the weight of the hardest violation, the rest goes to the sum of all."""
    total, matches = 0.0, 0
    for p in range(len(scores)):
        if not (rows[p] and columns[p]):
            continue
        matches += 1
        negatives = [q for q in range(len(scores)) if ids[q] != ids[p]]
        along_row = [max(0.0, MARGIN - scores[p, p] + scores[p, q]) for q in negatives if columns[q]]
        along_column = [max(0.0, MARGIN - scores[p, p] + scores[q, p]) for q in negatives if rows[q]]
        for hinges in (along_row, along_column):
            total += share * max(hinges, default=0.0) + (1 - share) * sum(hinges)
    return total / max(matches, 1) if mean else total


def draw(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Scores, ids with repetitions, row and column masks with gaps."""
    generator = np.random.default_rng(seed)
    scores = generator.uniform(-1, 1, (SIZE, SIZE)).astype("float32")
    ids = generator.integers(0, SIZE, SIZE).astype("int32")
    rows, columns = generator.random((2, SIZE)) < 0.7
    return scores, ids, rows, columns


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize(("negatives", "share"), [("hardest", 1.0), ("sum", 0.0)])
@pytest.mark.parametrize("reduction", ["sum", "mean"])
def test_equals_the_naive_loop(seed: int, negatives: str, share: float, reduction: str) -> None:
    scores, ids, rows, columns = draw(seed)
    loss = TripletLoss(MARGIN, negatives, reduction=reduction)
    actual = loss(scores, ids, row_mask=rows, column_mask=columns)
    expected = naive(scores.astype(np.float64), ids, rows, columns, share, mean=reduction == "mean")
    np.testing.assert_allclose(actual, expected, atol=2e-5)


@pytest.mark.parametrize(("step", "share"), [(0, 0.0), (25, 0.25), (50, 0.5), (100, 1.0), (1000, 1.0)])
def test_warm_up_blends_the_sum_into_the_hardest(step: int, share: float) -> None:
    scores, ids, rows, columns = draw(99)
    loss = TripletLoss(MARGIN, warmup_steps=100)
    actual = loss(scores, ids, row_mask=rows, column_mask=columns, step=tf.constant(step, tf.int64))
    np.testing.assert_allclose(actual, naive(scores.astype(np.float64), ids, rows, columns, share), atol=2e-5)


def test_masks_default_to_items_that_all_exist() -> None:
    scores, ids, _, _ = draw(5)
    everything = np.ones(SIZE, bool)
    expected = naive(scores.astype(np.float64), ids, everything, everything, share=1.0)
    np.testing.assert_allclose(TripletLoss(MARGIN)(scores, ids), expected, atol=2e-5)


def test_other_captions_of_an_image_are_not_negatives() -> None:
    scores = np.array([[0.5, 0.9], [0.9, 0.5]], "float32")
    assert float(TripletLoss()(scores, np.array([7, 7]))) == 0.0
    np.testing.assert_allclose(TripletLoss()(scores, np.array([7, 8])), 4 * (0.2 - 0.5 + 0.9), rtol=1e-6)


def test_equal_scores_give_the_stuck_loss_of_twice_batch_times_margin() -> None:
    np.testing.assert_allclose(TripletLoss()(np.zeros((8, 8), "float32"), np.arange(8)), 2 * 8 * 0.2, rtol=1e-6)


@pytest.mark.parametrize("reduction", ["sum", "mean"])
def test_a_batch_without_matches_costs_nothing(reduction: str) -> None:
    scores, ids, _, _ = draw(6)
    nothing = np.zeros(SIZE, bool)
    watched = tf.constant(scores)
    with tf.GradientTape() as tape:
        tape.watch(watched)
        value = TripletLoss(reduction=reduction)(watched, ids, row_mask=nothing, column_mask=nothing)
    assert float(value) == 0.0
    assert np.all(np.isfinite(tape.gradient(value, watched)))


@pytest.mark.parametrize("share", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("seed", range(3))
def test_gradients_equal_finite_differences(seed: int, share: float) -> None:
    scores, ids, rows, columns = draw(seed + 40)
    watched = tf.constant(scores)
    with tf.GradientTape() as tape:
        tape.watch(watched)
        value = TripletLoss(MARGIN, warmup_steps=10)(watched, ids, rows, columns, step=tf.constant(round(10 * share)))
    flat = np.ravel(scores).astype(np.float64)
    expected = approx_fprime(flat, lambda x: naive(x.reshape(SIZE, SIZE), ids, rows, columns, share), 1e-7)
    np.testing.assert_allclose(np.ravel(tape.gradient(value, watched)), expected, atol=1e-5)


@pytest.mark.parametrize("arguments", [{"negatives": "semi-hard"}, {"reduction": "none"}])
def test_unknown_options_are_refused(arguments: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="must be"):
        TripletLoss(**arguments)
