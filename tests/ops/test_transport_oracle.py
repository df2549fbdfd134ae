"""Transport plans against POT's exact solver and its Sinkhorn, in float64."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np
import pytest
import tensorflow as tf
from numpy.typing import NDArray

from vse_zoo.ops import TransportPlan, round_plan, transport_plan

for _backend in ("TENSORFLOW", "JAX", "CUPY", "PYTORCH"):
    # POT otherwise imports every array library that is installed.
    os.environ.setdefault(f"POT_BACKEND_DISABLE_{_backend}", "1")
ot = pytest.importorskip("ot")

Array = NDArray[np.float64]
ROWS, COLUMNS = 49, 25
KINDS = ("cosine", "uniform", "permutation", "duplicates", "far", "identical", "zero")


class Problems(NamedTuple):
    """Padded costs (P, n, m), masses (P, n) and (P, m) (0 on padding) and exact values (P,)."""

    cost: Array
    rows: Array
    columns: Array
    exact: Array

    @property
    def exists(self) -> NDArray[np.bool_]:
        return (self.rows > 0)[:, :, None] & (self.columns > 0)[:, None]

    def plans(self, **options: Any) -> TransportPlan:
        """Padding is masked; masses of 0 on real items are given as masses."""
        masks = [np.cumsum(mass[:, ::-1] > 0, axis=1)[:, ::-1] > 0 for mass in (self.rows, self.columns)]
        return transport_plan(self.cost, *masks, row_mass=self.rows, column_mass=self.columns, **options)

    def errors(self, plan: Array) -> Array:
        sides = ((2, self.rows), (1, self.columns))
        return 0.5 * sum(np.abs(plan.sum(axis, dtype=np.float64) - mass).sum(1) for axis, mass in sides)

    def gaps(self, plan: Array) -> Array:
        """Relative to the exact value, or to 1% of the largest cost where that is more."""
        cost = np.where(self.exists, self.cost, 0.0)
        scale = np.maximum(self.exact, np.maximum(0.01 * np.abs(cost).max(axis=(1, 2)), 1e-9))
        return ((plan * cost).sum(axis=(1, 2)) - self.exact) / scale


def cosine_cost(generator: np.random.Generator, n: int, m: int, share: float = 0.0) -> Array:
    regions, words = generator.normal(size=(n, 256)), generator.normal(size=(m, 256))
    words = np.sqrt(1 - share) * words + np.sqrt(share) * regions[generator.integers(n, size=m)]
    regions, words = (items / np.linalg.norm(items, axis=1, keepdims=True) for items in (regions, words))
    return 1 - regions @ words.T


def cost_of(kind: str, generator: np.random.Generator, n: int, m: int) -> Array:
    if kind == "cosine":
        return cosine_cost(generator, n, m, generator.choice([0.0, 0.5]))
    if kind in ("identical", "zero"):
        return np.full((n, m), 0.0 if kind == "zero" else generator.uniform(0, 2))
    cost = generator.uniform(size=(n, m))
    if kind == "permutation":
        return 0.01 * cost + 1.0 - np.eye(max(n, m))[:n, :m][generator.permutation(n)]
    if kind == "duplicates":
        return cost[generator.integers(max(1, n // 3), size=n)]
    if kind == "far":
        cost[generator.integers(n)] += 20.0
    return cost


def masses(generator: np.random.Generator, size: int, given: bool) -> Array:
    """Equal, or unequal and some of them 0."""
    if not given:
        return np.full(size, 1 / size)
    found = generator.exponential(size=size) * (generator.random(size) < 0.8)
    found[generator.integers(size)] += 0.1
    return found / found.sum()


def draw(kinds: tuple[str, ...], count: int, seed: int, scale: float = 1.0, given: float = 0.3) -> Problems:
    """Sizes of 1 to 49 × 1 to 25, costs times ``scale``; a share ``given`` has masses of its own."""
    generator = np.random.default_rng(seed)
    cost = np.full((count, ROWS, COLUMNS), -77.0)
    rows, columns, exact = np.zeros((count, ROWS)), np.zeros((count, COLUMNS)), np.zeros(count)
    for index in range(count):
        n, m = int(generator.integers(1, ROWS + 1)), int(generator.integers(1, COLUMNS + 1))
        own = generator.random() < given
        rows[index, :n], columns[index, :m] = masses(generator, n, own), masses(generator, m, own)
        cost[index, :n, :m] = scale * cost_of(kinds[index % len(kinds)], generator, n, m)
        exact[index] = ot.emd2(rows[index, :n], columns[index, :m], cost[index, :n, :m])
    return Problems(cost, rows, columns, exact)


def paper(count: int, share: float) -> Problems:
    """36 regions × 8–25 words."""
    generator = np.random.default_rng(count)
    rows = np.tile(np.where(np.arange(ROWS) < 36, 1 / 36, 0.0), (count, 1))
    cost, columns, exact = np.zeros((count, ROWS, COLUMNS)), np.zeros((count, COLUMNS)), np.zeros(count)
    for index in range(count):
        m = int(generator.integers(8, COLUMNS + 1))
        cost[index, :36, :m], columns[index, :m] = cosine_cost(generator, 36, m, share), 1 / m
        exact[index] = ot.emd2(rows[index, :36], columns[index, :m], cost[index, :36, :m])
    return Problems(cost, rows, columns, exact)


def rounded(problems: Problems, plan: Array) -> Array:
    """By the function that ``feasible`` calls, without compiling it anew."""
    found = round_plan(
        *(tf.constant(part.T, tf.float32) for part in (plan.swapaxes(1, 2), problems.rows, problems.columns))
    )
    return found.numpy().transpose(2, 0, 1)


def check(problems: Problems, method: str, beta: float, iterations: int) -> Array:
    """What holds for every problem and every setting; gives the plans, not rounded."""
    solved = problems.plans(beta=beta, iterations=iterations, method=method)
    plan = solved.plan.numpy()
    assert np.isfinite(plan).all()
    assert plan.min() >= 0
    assert (plan[~problems.exists] == 0).all()
    np.testing.assert_allclose(solved.error, problems.errors(plan), atol=1e-5)
    feasible = rounded(problems, plan)
    assert problems.errors(feasible).max() < 1e-6
    # No plan that keeps the marginals is cheaper than the optimum.
    assert problems.gaps(feasible).min() > -1e-5
    return plan


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_the_papers_setting_is_within_two_percent_of_the_optimum(share: float) -> None:
    problems = paper(60, share)
    plan = check(problems, "ipot", 0.5, 20)
    gaps = problems.gaps(plan)
    assert np.median(gaps) < 0.02
    assert np.abs(gaps).max() < 0.025
    assert problems.errors(plan).max() < 5e-3
    feasible = problems.plans(feasible=True).plan.numpy()
    np.testing.assert_allclose(feasible, rounded(problems, plan), atol=1e-7)


def test_random_and_adversarial_problems_come_near_the_optimum() -> None:
    problems = draw(KINDS, 140, seed=1)
    plan = check(problems, "ipot", 0.1, 300)
    gaps = np.abs(problems.gaps(plan))
    assert np.median(gaps) < 1e-3
    assert np.quantile(gaps, 0.9) < 0.02


@pytest.mark.slow
@pytest.mark.parametrize("beta", [1.0, 0.5, 0.1, 0.01, 0.001])
@pytest.mark.parametrize("iterations", [20, 200])
@pytest.mark.parametrize("method", ["ipot", "sinkhorn"])
def test_no_setting_fails_on_a_thousand_problems(method: str, beta: float, iterations: int) -> None:
    check(draw(KINDS, 1000, seed=2), method, beta, iterations)


@pytest.mark.parametrize(
    ("scale", "beta"), [(1.0, 0.001), (1e4, 0.001), pytest.param(1e4, 0.5, marks=pytest.mark.slow)]
)
def test_costs_up_to_ten_thousand_and_small_steps_stay_finite(beta: float, scale: float) -> None:
    check(draw(KINDS, 64, seed=3, scale=scale), "ipot", beta, 20)


def test_small_steps_come_near_the_optimum_in_logarithms() -> None:
    """With cosine costs; where the cost varies more, steps of 1e-3 need far more iterations than β=0.5."""
    problems = draw(("cosine",), 64, seed=4, given=0.0)
    solved = problems.plans(beta=0.001, iterations=500, feasible=True)
    assert np.median(problems.gaps(solved.plan.numpy())) < 0.02


@pytest.mark.parametrize(("beta", "iterations"), [(0.01, 200), pytest.param(0.02, 400, marks=pytest.mark.slow)])
def test_kernels_that_underflow_on_the_way_stay_finite(beta: float, iterations: int) -> None:
    problems = paper(60, 0.5)
    plan = problems.plans(beta=beta, iterations=iterations).plan.numpy()
    assert np.isfinite(plan).all()
    assert np.median(np.abs(problems.gaps(plan))) < 0.01


@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (9, 1), (36, 25)])
def test_padding_changes_nothing(shape: tuple[int, int]) -> None:
    n, m = shape
    generator = np.random.default_rng(n + m)
    cost, padded = generator.uniform(size=(3, n, m)), np.full((3, ROWS, COLUMNS), 1e4)
    padded[:, :n, :m] = cost
    plan = transport_plan(cost).plan.numpy()
    masks = [np.tile(np.arange(size) < real, (3, 1)) for size, real in ((ROWS, n), (COLUMNS, m))]
    found = transport_plan(padded, *masks).plan.numpy()
    np.testing.assert_allclose(found[:, :n, :m], plan, atol=1e-6)
    assert np.count_nonzero(found) == np.count_nonzero(found[:, :n, :m])


@pytest.mark.parametrize(("beta", "tolerance"), [(0.05, 1e-5), pytest.param(0.5, 1e-6, marks=pytest.mark.slow)])
def test_sinkhorn_equals_pots(beta: float, tolerance: float) -> None:
    problems = draw(("cosine", "uniform", "far"), 30, seed=5, given=0.3)
    plan = problems.plans(beta=beta, iterations=2000, method="sinkhorn").plan.numpy()
    for index in range(30):
        rows, columns = (np.flatnonzero(mass[index]) for mass in (problems.rows, problems.columns))
        block = np.ix_(rows, columns)
        arguments = problems.rows[index, rows], problems.columns[index, columns], problems.cost[index][block], beta
        oracle = ot.sinkhorn(*arguments, method="sinkhorn_log", numItermax=2000, stopThr=1e-12, warn=False)
        np.testing.assert_allclose(plan[index][block], oracle, atol=tolerance)
