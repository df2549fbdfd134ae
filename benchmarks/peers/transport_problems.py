"""Transport problems with known exact values, random and adversarial, for measuring solvers."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

for _backend in ("TENSORFLOW", "JAX", "CUPY", "PYTORCH"):
    # POT otherwise imports every array library that is installed.
    os.environ.setdefault(f"POT_BACKEND_DISABLE_{_backend}", "1")
import ot  # noqa: E402

Array = NDArray[np.float64]
KINDS = ("unrelated", "matching", "permutation", "duplicates", "far", "identical")
ROWS, COLUMNS = 49, 25


class Problems(NamedTuple):
    """Padded costs (P, n, m), masses (P, n) and (P, m) (0 on padding) and exact values (P,)."""

    cost: Array
    rows: Array
    columns: Array
    exact: Array


def cosine_cost(generator: np.random.Generator, n: int, m: int, share: float, size: int = 256) -> Array:
    """1 − cosine of regions and words; ``share`` of each word's square length is that of one region."""
    regions, words = generator.normal(size=(n, size)), generator.normal(size=(m, size))
    words = np.sqrt(1 - share) * words + np.sqrt(share) * regions[generator.integers(n, size=m)]
    regions, words = (items / np.linalg.norm(items, axis=1, keepdims=True) for items in (regions, words))
    return 1 - regions @ words.T


def cost_of(kind: str, generator: np.random.Generator, n: int, m: int) -> Array:
    """One problem's costs."""
    if kind in ("unrelated", "matching"):
        return cosine_cost(generator, n, m, 0.5 if kind == "matching" else 0.0)
    if kind == "identical":
        return np.full((n, m), generator.choice([0.0, 1.0, 2.0]))
    cost = generator.uniform(size=(n, m))
    if kind == "permutation":
        cost = 0.01 * cost
        cost += 1.0 - np.eye(max(n, m))[:n, :m][generator.permutation(n)]
    elif kind == "duplicates":
        cost = cost[generator.integers(max(1, n // 3), size=n)]
    elif kind == "far":
        cost[generator.integers(n)] += 20.0
    elif kind == "large":
        cost *= 10.0 ** generator.uniform(1, 4)
    return cost


def draw(kinds: tuple[str, ...], count: int, seed: int = 0) -> Problems:
    """Problems of 1–49 rows and 1–25 columns; a third have unequal masses, some of them 0."""
    generator = np.random.default_rng(seed)
    cost = np.full((count, ROWS, COLUMNS), 7.0)
    rows, columns, exact = np.zeros((count, ROWS)), np.zeros((count, COLUMNS)), np.zeros(count)
    for index, kind in enumerate(kind for _, kind in zip(range(count), _cycle(kinds), strict=False)):
        n, m = int(generator.integers(1, ROWS + 1)), int(generator.integers(1, COLUMNS + 1))
        cost[index, :n, :m] = cost_of(kind, generator, n, m)
        given = generator.random() < 1 / 3
        a, b = (_masses(generator, size, given) for size in (n, m))
        rows[index, :n], columns[index, :m] = a, b
        exact[index] = ot.emd2(a, b, cost[index, :n, :m])
    return Problems(cost, rows, columns, exact)


def paper_like(count: int, seed: int = 0) -> Problems:
    """36 regions against 8–25 words, half of them pairs that match, uniform masses."""
    generator = np.random.default_rng(seed)
    cost, columns, exact = np.full((count, ROWS, COLUMNS), 7.0), np.zeros((count, COLUMNS)), np.zeros(count)
    rows = np.tile(np.where(np.arange(ROWS) < 36, 1 / 36, 0.0), (count, 1))
    for index in range(count):
        m = int(generator.integers(8, COLUMNS + 1))
        cost[index, :36, :m] = cosine_cost(generator, 36, m, 0.5 * (index % 2))
        columns[index, :m] = 1 / m
        exact[index] = ot.emd2(rows[index, :36], columns[index, :m], cost[index, :36, :m])
    return Problems(cost, rows, columns, exact)


def _cycle(kinds: tuple[str, ...]) -> Iterator[str]:
    while True:
        yield from kinds


def _masses(generator: np.random.Generator, size: int, given: bool) -> Array:
    if not given:
        return np.full(size, 1 / size)
    masses = generator.exponential(size=size) * (generator.random(size) < 0.8)
    masses[generator.integers(size)] += 0.1
    return masses / masses.sum()
