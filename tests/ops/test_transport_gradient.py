"""Gradients of transport against finite differences of POT's exact optimum and of the solver's own values."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from numpy.typing import NDArray

from vse_zoo.layers import OTSimilarity
from vse_zoo.ops import transport_plan

for _backend in ("TENSORFLOW", "JAX", "CUPY", "PYTORCH"):
    # POT otherwise imports every array library that is installed.
    os.environ.setdefault(f"POT_BACKEND_DISABLE_{_backend}", "1")
ot = pytest.importorskip("ot")

Array = NDArray[np.float64]


def slope(function: Callable[[Array], float], at: Array, direction: Array, step: float) -> float:
    return (function(at + step * direction) - function(at - step * direction)) / (2 * step)


def value(cost: tf.Tensor, **options: Any) -> tf.Tensor:
    return tf.reduce_sum(transport_plan(cost, **options).plan * tf.cast(cost, tf.float32))


def gradient(cost: Array, **options: Any) -> Array:
    variable = tf.Variable(cost, dtype=tf.float32)
    with tf.GradientTape() as tape:
        found = value(variable, **options)
    return tape.gradient(found, variable).numpy().astype(np.float64)


def directions(shape: tuple[int, ...], count: int = 8) -> Array:
    return np.random.default_rng(9).normal(size=(count, *shape))


def test_the_plan_is_the_gradient_of_the_exact_optimum() -> None:
    """At generic costs, where the best plan is unique; within 0.5% of the direction's length."""
    cost = np.random.default_rng(0).uniform(size=(5, 6, 4))
    found = gradient(cost, beta=0.1, iterations=2000)
    for problem, slopes in zip(cost, found, strict=True):
        for direction in directions(problem.shape):
            expected = slope(lambda c: ot.emd2([], [], c), problem, direction, 1e-6)
            assert (slopes * direction).sum() == pytest.approx(expected, abs=0.005 * np.linalg.norm(direction))


@pytest.mark.parametrize(
    ("method", "feasible"),
    [
        ("ipot", True),
        ("sinkhorn", False),
        pytest.param("ipot", False, marks=pytest.mark.slow),
        pytest.param("sinkhorn", True, marks=pytest.mark.slow),
    ],
)
def test_differentiating_through_the_iterations_equals_finite_differences(method: str, feasible: bool) -> None:
    """Of the solver's own value, in float32: within 1% and 2e-3."""
    cost = np.random.default_rng(2).uniform(size=(1, 6, 4))
    options: dict[str, Any] = {"beta": 0.3, "iterations": 10, "method": method, "feasible": feasible}
    slopes = gradient(cost, differentiate=True, **options)
    for direction in directions(cost.shape):
        expected = slope(lambda c: float(value(tf.constant(c), **options)), cost, direction, 1e-3)
        assert (slopes * direction).sum() == pytest.approx(expected, rel=0.01, abs=2e-3)


def test_the_layers_gradient_is_that_of_the_sum_of_exact_optima() -> None:
    """Σ S_OT over all pairs, with padding: by regions and by words, within 0.5% of the lengths' product."""
    generator = np.random.default_rng(3)
    sets = [generator.normal(size=shape) for shape in ((3, 6, 8), (4, 5, 8))]
    sets = [items / np.linalg.norm(items, axis=-1, keepdims=True) for items in sets]
    counts = [6, 4, 5], [5, 3, 2, 4]
    masks = [np.arange(items.shape[1]) < np.array(count)[:, None] for items, count in zip(sets, counts, strict=True)]

    def exact(regions: Array, words: Array) -> float:
        pairs = [
            (v[:n], e[:m])
            for v, n in zip(regions, counts[0], strict=True)
            for e, m in zip(words, counts[1], strict=True)
        ]
        return -sum(float(ot.emd2([], [], 1 - v @ e.T)) for v, e in pairs)

    def with_side(side: int, items: Array) -> list[Array]:
        return [items if k == side else sets[k] for k in (0, 1)]

    variables = [tf.Variable(items, dtype=tf.float32) for items in sets]
    layer = OTSimilarity(beta=0.1, iterations=2000)
    with tf.GradientTape() as tape:
        scores = layer(*variables, region_mask=masks[0], word_mask=masks[1])
        total = tf.reduce_sum(scores)
    assert float(total) == pytest.approx(exact(*sets), rel=1e-3)
    by_regions, by_words = (slopes.numpy().astype(np.float64) for slopes in tape.gradient(total, variables))
    assert (by_regions[~masks[0]] == 0).all()
    assert (by_words[~masks[1]] == 0).all()
    for side, slopes in enumerate((by_regions, by_words)):
        for direction in directions(slopes.shape):
            expected = slope(lambda items, side=side: exact(*with_side(side, items)), sets[side], direction, 1e-6)
            tolerance = 0.005 * np.linalg.norm(slopes) * np.linalg.norm(direction)
            assert (slopes * direction).sum() == pytest.approx(expected, abs=tolerance)
