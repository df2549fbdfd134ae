"""ContrastiveLoss against a naive float64 loop and a closed form; its temperature and its gradients."""

from __future__ import annotations

import math

import numpy as np
import pytest
import tensorflow as tf
from scipy.optimize import approx_fprime

from vse_zoo.losses import ContrastiveLoss

SIZE, TEMPERATURE = 6, 0.3


def naive(
    scores: np.ndarray,
    ids: np.ndarray,
    rows: np.ndarray,
    columns: np.ndarray,
    temperature: float = TEMPERATURE,
    mean: bool = True,
) -> float:
    total, matches = 0.0, 0
    for p in range(len(scores)):
        if not (rows[p] and columns[p]):
            continue
        matches += 1
        row = [scores[p, p]] + [scores[p, q] for q in range(len(scores)) if columns[q] and ids[q] != ids[p]]
        column = [scores[p, p]] + [scores[q, p] for q in range(len(scores)) if rows[q] and ids[q] != ids[p]]
        for candidates in (row, column):
            exponentials = [math.exp(score / temperature) for score in candidates]
            total -= 0.5 * math.log(exponentials[0] / sum(exponentials))
    return total / max(matches, 1) if mean else total


def draw(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    scores = generator.uniform(-1, 1, (SIZE, SIZE)).astype("float32")
    rows, columns = generator.random((2, SIZE)) < 0.7
    return scores, generator.integers(0, SIZE, SIZE).astype("int32"), rows, columns


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("reduction", ["sum", "mean"])
def test_equals_the_naive_loop(seed: int, reduction: str) -> None:
    scores, ids, rows, columns = draw(seed)
    loss = ContrastiveLoss(TEMPERATURE, reduction=reduction)
    actual = loss(scores, ids, row_mask=rows, column_mask=columns, step=tf.constant(3))
    expected = naive(scores.astype(np.float64), ids, rows, columns, mean=reduction == "mean")
    np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-6)


def test_equal_scores_give_the_logarithm_of_the_batch_size() -> None:
    np.testing.assert_allclose(ContrastiveLoss()(np.zeros((8, 8), "float32"), np.arange(8)), math.log(8), rtol=1e-6)


def test_one_image_alone_costs_nothing() -> None:
    scores = np.array([[0.1, 0.9], [0.8, 0.2]], "float32")
    np.testing.assert_allclose(ContrastiveLoss()(scores, np.array([4, 4])), 0.0, atol=1e-6)


@pytest.mark.parametrize("reduction", ["sum", "mean"])
def test_a_batch_without_matches_costs_nothing(reduction: str) -> None:
    scores, ids, _, _ = draw(6)
    nothing = np.zeros(SIZE, bool)
    watched = tf.constant(scores)
    with tf.GradientTape() as tape:
        tape.watch(watched)
        value = ContrastiveLoss(reduction=reduction)(watched, ids, row_mask=nothing, column_mask=nothing)
    assert float(value) == 0.0
    assert np.all(np.isfinite(tape.gradient(value, watched)))


@pytest.mark.parametrize("seed", range(3))
def test_gradients_of_scores_and_temperature_equal_finite_differences(seed: int) -> None:
    scores, ids, rows, columns = draw(seed + 40)
    loss = ContrastiveLoss(TEMPERATURE, learnable=True)
    watched = tf.constant(scores)
    with tf.GradientTape() as tape:
        tape.watch(watched)
        value = loss(watched, ids, rows, columns)
    by_scores, by_temperature = tape.gradient(value, [watched, loss.log_temperature.value])

    def numeric(flat: np.ndarray) -> float:
        return naive(flat[:-1].reshape(SIZE, SIZE), ids, rows, columns, math.exp(flat[-1]))

    expected = approx_fprime(np.append(np.ravel(scores), math.log(TEMPERATURE)).astype(np.float64), numeric, 1e-7)
    np.testing.assert_allclose(np.ravel(by_scores), expected[:-1], atol=1e-5)
    np.testing.assert_allclose(by_temperature, expected[-1], atol=1e-5)


def test_the_temperature_is_a_weight_and_trains_only_if_learnable() -> None:
    fixed, learned = ContrastiveLoss(0.1), ContrastiveLoss(0.1, learnable=True)
    assert not fixed.trainable_variables
    assert [variable.name for variable in learned.trainable_variables] == ["log_temperature"]
    np.testing.assert_allclose(np.exp(learned.log_temperature), 0.1, rtol=1e-6)


def test_a_learned_temperature_stays_at_or_above_its_floor() -> None:
    scores, ids, rows, columns = draw(1)
    loss = ContrastiveLoss(learnable=True)
    loss.log_temperature.assign(-20.0)
    expected = naive(scores.astype(np.float64), ids, rows, columns, temperature=0.01)
    np.testing.assert_allclose(loss(scores, ids, rows, columns), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("arguments", [{"temperature": 0.0}, {"temperature": -1.0}, {"reduction": "none"}])
def test_impossible_options_are_refused(arguments: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="must be"):
        ContrastiveLoss(**arguments)
