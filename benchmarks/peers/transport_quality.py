"""Batches of sets, and how good the plans of each solver are on them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from peers import transport_libraries as libraries
from peers import transport_torch as peer

from vse_zoo.ops import transport_plan

__all__ = ["EPSILON", "Batch", "draw", "qualities"]

Array = NDArray[Any]
EPSILON = 0.02
"""The libraries' entropy weight: after 20 iterations their gap is then about that of the paper's IPOT."""


class Batch(NamedTuple):
    """Unit vectors: regions (N, R, E) and words (N, T, E), and the numbers of words (N,)."""

    regions: NDArray[np.float32]
    words: NDArray[np.float32]
    lengths: NDArray[np.int64]

    @property
    def mask(self) -> NDArray[np.bool_]:
        return np.arange(self.words.shape[1]) < self.lengths[:, None]


def draw(size: int, words: tuple[int, int], dimensions: int) -> Batch:
    random = np.random.default_rng(0)
    sets = [random.standard_normal((size, count, dimensions), dtype=np.float32) for count in (36, words[1])]
    lengths = random.integers(*words, size, endpoint=True)
    lengths[0] = words[1]
    return Batch(*(each / np.linalg.norm(each, axis=-1, keepdims=True) for each in sets), lengths)


def qualities(batch: Batch, iterations: int) -> dict[str, str]:
    """Gap to the exact optimum and marginal error of the plans of 16 × 16 pairs."""
    few = Batch(*(each[:16] for each in batch))
    cost, mask = peer.pairs(torch.from_numpy(few.regions), torch.from_numpy(few.words), few.lengths.tolist())
    mass = mask / mask.sum(1, keepdim=True)
    optimum = [libraries.exact(each.numpy(), int(count)) for each, count in zip(cost, mask.sum(1), strict=True)]
    plans = {"PyTorch, one batch": peer.ipot(cost, mask, iterations=iterations)}
    plans["ours"] = transport_plan(cost.numpy(), column_mask=mask.numpy() > 0, iterations=iterations).plan
    for name, solver in libraries.SOLVERS.items():
        arguments = (cost.numpy(), mass.numpy()) if name.startswith("OTT") else (cost, mass)
        plans[name] = solver(*arguments, EPSILON, iterations)
    described = {name: _quality(np.asarray(plan), cost.numpy(), mass.numpy(), optimum) for name, plan in plans.items()}
    return described | {"PyTorch, per caption": described["PyTorch, one batch"]}


def _quality(plan: Array, cost: Array, mass: Array, optimum: list[float]) -> str:
    errors = np.abs(plan.sum(2) - 1 / plan.shape[1]).sum(1) + np.abs(plan.sum(1) - mass).sum(1)
    return f"{100 * np.median((plan * cost).sum((1, 2)) / optimum - 1):+.1f}% | {errors.max() / 2:.0e}"
