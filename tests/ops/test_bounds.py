"""Lower bounds of transport cost: below every plan, against exact optima of POT and random feasible plans."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from numpy.typing import NDArray

from vse_zoo.ops import transport_plan
from vse_zoo.ops.bounds import capacity_bound, column_bound, dual_bound, row_bound

BOUNDS: dict[str, Callable[..., Any]] = {
    "column": column_bound,
    "row": row_bound,
    "capacity": capacity_bound,
    "c-transforms": lambda *problem: dual_bound(*problem, rounds=0),
    "ascent": dual_bound,
    "much ascent": lambda *problem: dual_bound(*problem, rounds=6),
}

Problem = tuple[NDArray[np.float32], NDArray[np.bool_], NDArray[np.bool_]]


@pytest.fixture(scope="module")
def emd2() -> Callable[..., float]:
    os.environ.setdefault("POT_BACKEND_DISABLE_TENSORFLOW", "1")
    return pytest.importorskip("ot").emd2


def masks(random: np.random.Generator, count: int, size: int) -> NDArray[np.bool_]:
    """Any subset of the places, holes included, with at least one."""
    mask = random.random((count, size)) < random.uniform(0.3, 1, (count, 1))
    mask[np.arange(count), random.integers(0, size, count)] = True
    return mask


def cosines(random: np.random.Generator, count: int, n: int, m: int) -> NDArray[np.float32]:
    """Costs 1 − cosine of random vectors of few dimensions: near, far and opposite pairs abound."""
    sides = [random.standard_normal((count, size, random.integers(1, 6))) for size in (n, m)]
    a, b = (each[..., : min(s.shape[2] for s in sides)] for each in sides)
    a, b = (each / np.linalg.norm(each, axis=2, keepdims=True) for each in (a, b))
    return np.float32(1 - np.einsum("pkd,pld->pkl", a, b))


def problems() -> dict[str, Problem]:
    random = np.random.default_rng(0)
    everything = lambda cost: (cost, np.ones(cost.shape[:2], bool), np.ones((len(cost), cost.shape[2]), bool))  # noqa: E731
    found = {}
    for n, m in ((1, 1), (1, 9), (9, 1), (2, 3), (5, 5), (12, 25), (36, 8), (7, 40)):
        found[f"random {n}×{m}"] = (cosines(random, 250, n, m), masks(random, 250, n), masks(random, 250, m))
    found["wide costs"] = everything(np.float32(random.uniform(-1e4, 1e4, (100, 10, 6))))
    found["heavy tails"] = everything(np.float32(random.standard_cauchy((100, 6, 10))))
    found["all equal"] = everything(np.full((20, 6, 4), 0.7, np.float32))
    found["opposite"] = everything(np.full((20, 3, 8), 2, np.float32))
    found["identical sets"] = everything(np.float32(1 - np.eye(8)[None].repeat(20, 0)))
    found["integers, ties"] = everything(np.float32(random.integers(0, 3, (200, 5, 7))))
    found["permutation"] = everything(
        np.float32(1 - np.eye(9)[random.permuted(np.tile(np.arange(9), (50, 1)), axis=1)])
    )
    return found


PROBLEMS = problems()


OURS = ("random 12×25",)


def feasible(start: NDArray, rows: NDArray, columns: NDArray) -> NDArray[np.float64]:
    """Any plan with the right marginals: rows, then columns, scaled down to their mass, and the rest spread out."""
    mu, nu = (mask / mask.sum(axis=1, keepdims=True) for mask in (rows, columns))
    plan = start * (rows[:, :, None] & columns[:, None]) / start.sum(axis=(1, 2), keepdims=True)
    plan *= np.minimum(1, mu / np.maximum(plan.sum(axis=2), 1e-300))[:, :, None]
    plan *= np.minimum(1, nu / np.maximum(plan.sum(axis=1), 1e-300))[:, None]
    row_rest, column_rest = mu - plan.sum(axis=2), nu - plan.sum(axis=1)
    rest = np.maximum(row_rest.sum(axis=1), 1e-300)
    return plan + row_rest[:, :, None] * column_rest[:, None] / rest[:, None, None]


def optimum(emd2: Callable[..., float], cost: NDArray, rows: NDArray, columns: NDArray) -> NDArray[np.float64]:
    parts = [np.ascontiguousarray(c[r][:, k], np.float64) for c, r, k in zip(cost, rows, columns, strict=True)]
    return np.array([emd2([], [], part) for part in parts])


@pytest.mark.parametrize("case", PROBLEMS)
def test_no_bound_exceeds_the_exact_optimum(case: str, emd2: Callable[..., float]) -> None:
    best = optimum(emd2, *PROBLEMS[case])
    found = {name: bound(*PROBLEMS[case]).numpy().astype(np.float64) for name, bound in BOUNDS.items()}
    for name, values in found.items():
        worst = int(np.argmax(values - best))
        assert values[worst] <= best[worst], f"{name}, problem {worst}: {values[worst]} > {best[worst]}"
    for weaker in ("column", "row"):
        assert (found["c-transforms"] >= found[weaker]).all()
    assert (found["ascent"] >= found["c-transforms"]).all()


@pytest.mark.parametrize("case", PROBLEMS)
def test_no_bound_exceeds_the_cost_of_our_plans_and_of_random_plans(case: str) -> None:
    cost, rows, columns = PROBLEMS[case]
    random = np.random.default_rng(1)
    plans = [feasible(np.exp(s * random.standard_normal(cost.shape)), rows, columns) for s in (0.1, 1, 10)]
    costs = [np.float32((plan * cost).sum(axis=(1, 2))) for plan in plans]
    if case in OURS:
        ours = transport_plan(*PROBLEMS[case], feasible=True).plan
        costs.append(tf.reduce_sum(ours * cost, (1, 2)).numpy())
    for name, bound in BOUNDS.items():
        values = bound(*PROBLEMS[case]).numpy()
        assert all((values <= each).all() for each in costs), name


def test_bounds_by_hand() -> None:
    """Both columns prefer the first row; the optimum is 1/2 · 0.2 + 1/2 · 0.6."""
    problem = np.float32([[[0, 0.2], [0.6, 1.0]]]), np.ones((1, 2), bool), np.ones((1, 2), bool)
    found = {name: float(bound(*problem)[0]) for name, bound in BOUNDS.items()}
    assert found["column"] == pytest.approx(0.1, abs=1e-4)
    assert found["row"] == pytest.approx(0.3, abs=1e-4)
    assert found["capacity"] == pytest.approx(0.3, abs=1e-4)
    for name in ("c-transforms", "ascent", "much ascent"):
        assert 0.4 - 1e-4 <= found[name] <= 0.4


def test_ascent_closes_most_of_the_gap(emd2: Callable[..., float]) -> None:
    problem = PROBLEMS["random 36×8"]
    best = optimum(emd2, *problem)
    gaps = {name: float(np.mean(best - bound(*problem).numpy())) for name, bound in BOUNDS.items()}
    assert gaps["ascent"] < 0.5 * min(gaps["column"], gaps["row"], gaps["capacity"])
    assert gaps["much ascent"] < gaps["ascent"] < gaps["c-transforms"]


def test_padding_changes_nothing() -> None:
    cost, rows, columns = PROBLEMS["random 12×25"]
    padded = np.pad(cost, ((0, 0), (0, 3), (0, 4)), constant_values=-50)
    wide = np.pad(rows, ((0, 0), (0, 3))), np.pad(columns, ((0, 0), (0, 4)))
    for bound in BOUNDS.values():
        np.testing.assert_allclose(bound(padded, *wide), bound(cost, rows, columns), rtol=0, atol=2e-6)
