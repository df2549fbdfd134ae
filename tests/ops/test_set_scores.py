"""Scores of all pairs against loops in float64, their gradients, padding, tiles."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from vse_zoo.ops import set_scores

SETTINGS = [(0.5, 50, False, True), (0.5, 20, True, False), (0.01, 5, False, True)]

REST = [(True, 1.0, False), (False, 0.1, False), (True, 0.1, True), (False, 0.1, True), (False, 1.0, True)]


def unit_sets(count: int, width: int, seed: int, dim: int = 6) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    mask = np.arange(width) < random.integers(1, width + 1, count)[:, None]
    vectors = random.normal(size=(count, width, dim))
    vectors /= np.linalg.norm(vectors, axis=2, keepdims=True)
    return (vectors * mask[..., None]).astype("float32"), mask


def ipot(cost: np.ndarray, beta: float, iterations: int) -> np.ndarray:
    """Algorithm 1 of the paper as printed, in logarithms so that no β is too small."""
    rows, columns = cost.shape
    plan, b = np.zeros_like(cost), np.full(columns, -np.log(columns))
    for _ in range(iterations):
        q = plan - cost / beta
        a = -np.log(rows) - np.logaddexp.reduce(q + b, axis=1)
        b = -np.log(columns) - np.logaddexp.reduce(q + a[:, None], axis=0)
        plan = q + a[:, None] + b
    return np.exp(plan)


def rounded(plan: np.ndarray) -> np.ndarray:
    """Altschuler et al. (2017), algorithm 2, one row and one column at a time."""
    rows, columns = plan.shape
    plan = np.stack([row * min(1.0, 1 / rows / row.sum()) for row in plan])
    plan = np.stack([column * min(1.0, 1 / columns / column.sum()) for column in plan.T], axis=1)
    missing_rows, missing_columns = 1 / rows - plan.sum(1), 1 / columns - plan.sum(0)
    total = np.abs(missing_rows).sum()
    return plan + np.outer(missing_rows, missing_columns) / total if total > 0 else plan


def naive(
    pictures: tuple[np.ndarray, np.ndarray], sentences: tuple[np.ndarray, np.ndarray], by_word: bool, solve: Any
) -> tuple[np.ndarray, np.ndarray]:
    shape = len(pictures[0]), len(sentences[0])
    best, transport = np.zeros(shape), np.zeros(shape)
    for i in range(shape[0]):
        for j in range(shape[1]):
            v = pictures[0][i][pictures[1][i]].astype(np.float64)
            e = sentences[0][j][sentences[1][j]].astype(np.float64)
            s = v @ e.T
            best[i, j] = s.max(axis=0 if by_word else 1).sum()
            transport[i, j] = -(solve(1 - s) * (1 - s)).sum()
    return best, transport


@pytest.mark.parametrize(("beta", "iterations", "feasible", "by_word"), SETTINGS)
def test_scores_equal_loops_in_float64(beta: float, iterations: int, feasible: bool, by_word: bool) -> None:
    pictures, sentences = unit_sets(5, 4, 0), unit_sets(18, 7, 1)
    options = {"beta": beta, "iterations": iterations, "feasible": feasible}

    def solve(cost: np.ndarray) -> np.ndarray:
        plan = ipot(cost, beta, iterations)
        return rounded(plan) if feasible else plan

    found = set_scores(*pictures, *sentences, by_word=by_word, **options)
    best, transport = naive(pictures, sentences, by_word, solve)
    np.testing.assert_allclose(found.best, best, atol=1e-5)
    # Rounding of C/β in float32 grows as β falls.
    np.testing.assert_allclose(found.transport, transport, atol=2e-5 if beta > 0.05 else 1e-3)


@pytest.mark.parametrize(
    ("by_word", "share", "feasible"),
    [(True, 0.1, False), (False, 1.0, False), *(pytest.param(*rest, marks=pytest.mark.slow) for rest in REST)],
)
def test_the_gradient_is_that_of_the_best_matches_and_the_plan(by_word: bool, share: float, feasible: bool) -> None:
    """With the plans of float64 held constant, as the envelope theorem has it; few pairs have a way of their own."""
    pictures, sentences = unit_sets(10, 4, 2), unit_sets(35, 4 if share < 1 else 7, 3)
    random = np.random.default_rng(4)
    weights = np.float32(random.normal(size=(2, 10, 35)) * (random.random((10, 35)) < share))
    regions, words = tf.constant(pictures[0]), tf.constant(sentences[0])
    with tf.GradientTape() as tape:
        tape.watch([regions, words])
        found = set_scores(regions, pictures[1], words, sentences[1], by_word=by_word, feasible=feasible)
        total = tf.reduce_sum(found.best * weights[0] + found.transport * weights[1])
    gradients = tape.gradient(total, [regions, words])
    expected = [np.zeros(regions.shape), np.zeros(words.shape)]
    for i, j in np.argwhere(weights[0]):
        v, e = pictures[0][i][pictures[1][i]], sentences[0][j][sentences[1][j]]
        s = v @ e.T.astype(np.float64)
        plan = ipot(1 - s, 0.5, 20)
        chosen = s == s.max(axis=0 if by_word else 1, keepdims=True)
        slope = weights[0, i, j] * chosen + weights[1, i, j] * (rounded(plan) if feasible else plan)
        expected[0][i, : len(v)] += slope @ e
        expected[1][j, : len(e)] += slope.T @ v
    for found_gradient, wanted in zip(gradients, expected, strict=True):
        np.testing.assert_allclose(found_gradient, wanted, atol=5e-5)


def test_blocks_change_nothing() -> None:
    """More sets than a block holds on either side, of any lengths, with holes, in the graph as well as outside."""
    pictures, sentences = unit_sets(9, 4, 5), unit_sets(70, 7, 6)
    sentences[1][:, 1] &= sentences[1].sum(axis=1) < 4
    found = set_scores(*pictures, *sentences)
    inside = tf.function(lambda: set_scores(*map(tf.constant, (*pictures, *sentences))).transport)()
    np.testing.assert_allclose(found.transport, inside, atol=1e-6)
    best, transport = naive(pictures, sentences, True, lambda cost: ipot(cost, 0.5, 20))
    np.testing.assert_allclose(found.best, best, atol=1e-5)
    np.testing.assert_allclose(found.transport, transport, atol=1e-5)
    for row, column in ((3, slice(20, 70)), (8, slice(69, 70))):
        part = [each[row : row + 1] for each in pictures], [each[column] for each in sentences]
        alone = set_scores(*part[0], *part[1])
        np.testing.assert_allclose(found.best[row, column], alone.best[0], atol=1e-6)
        np.testing.assert_allclose(found.transport[row, column], alone.transport[0], atol=1e-6)


def test_without_transport_only_the_best_matches_count() -> None:
    pictures, sentences = unit_sets(4, 3, 7), unit_sets(5, 3, 8)
    found = set_scores(*pictures, *sentences, transport=False)
    best, _ = naive(pictures, sentences, True, np.zeros_like)
    np.testing.assert_allclose(found.best, best, atol=1e-6)
    np.testing.assert_array_equal(found.transport, np.zeros((4, 5)))


def test_equal_sets_cost_nothing_and_empty_ones_are_finite() -> None:
    vectors, _ = unit_sets(1, 4, 9)
    vectors[:] = vectors[0, 0]
    found = set_scores(vectors, np.ones((1, 4), bool), vectors, np.ones((1, 4), bool))
    np.testing.assert_allclose(found.transport, 0.0, atol=1e-6)
    np.testing.assert_allclose(found.best, 4.0, rtol=1e-6)
    empty = set_scores(vectors, np.zeros((1, 4), bool), vectors, np.zeros((1, 4), bool))
    assert np.all(np.isfinite(empty.transport))
    np.testing.assert_array_equal(empty.transport, [[0.0]])


def test_impossible_settings_are_refused() -> None:
    pictures, sentences = unit_sets(1, 2, 0), unit_sets(1, 2, 1)
    for options in ({"beta": 0.0}, {"iterations": 0}):
        with pytest.raises(ValueError, match="expected beta > 0, iterations"):
            set_scores(*pictures, *sentences, **options)
