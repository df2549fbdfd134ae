"""Batched Sinkhorn of POT, GeomLoss and OTT-JAX, made to solve all pairs of pictures and sentences: peers.

None of them masks: padded words are given the mass 0, which all three allow, and the pairs are laid out one after
another. All run a fixed number of iterations on the same costs. POT's batched proximal method (0.9.7), the only other
implementation of the paper's iterations, isn't among them: its kernel has the wrong sign before log T, so that it
alternates between two plans instead of converging, and masses of 0 make it NaN.
"""

from __future__ import annotations

import functools
import os
from typing import Any

import jax
import jax.numpy as jnp
import torch
from numpy.typing import NDArray

for _backend in ("TENSORFLOW", "JAX", "CUPY"):
    # POT otherwise imports every array library that is installed.
    os.environ.setdefault(f"POT_BACKEND_DISABLE_{_backend}", "1")
import ot  # noqa: E402
from geomloss.ot import solve_batch as geomloss_batch  # noqa: E402
from ott.geometry.geometry import Geometry  # noqa: E402
from ott.problems.linear.linear_problem import LinearProblem  # noqa: E402
from ott.solvers.linear.sinkhorn import Sinkhorn  # noqa: E402
from peers.transport_torch import pairs  # noqa: E402

__all__ = ["SOLVERS", "exact", "ott_scores", "torch_scores"]

Tensor = torch.Tensor


@torch.no_grad()
def pot_plans(method: str, cost: Tensor, mass: Tensor, epsilon: float, iterations: int) -> Tensor:
    return ot.solve_batch(
        cost, epsilon, b=mass, max_iter=iterations, tol=0.0, method=method, reg_type="kl", grad="detach"
    ).plan


@torch.no_grad()
def geomloss_plans(cost: Tensor, mass: Tensor, epsilon: float, iterations: int) -> Tensor:
    return geomloss_batch(cost, reg=epsilon, b=mass, max_iter=iterations).plan


@functools.partial(jax.jit, static_argnames=("lse", "epsilon", "iterations"))
def ott_plans(lse: bool, cost: Any, mass: Any, epsilon: float, iterations: int) -> Any:
    solver = Sinkhorn(
        lse_mode=lse, threshold=0.0, inner_iterations=iterations, min_iterations=iterations, max_iterations=iterations
    )

    def plan(cost: Any, mass: Any) -> Any:
        return solver(LinearProblem(Geometry(cost_matrix=cost, epsilon=epsilon), b=mass)).matrix

    return jax.vmap(plan)(cost, mass)


SOLVERS = {
    "POT, Sinkhorn": functools.partial(pot_plans, "sinkhorn"),
    "POT, in logarithms": functools.partial(pot_plans, "log_sinkhorn"),
    "GeomLoss": geomloss_plans,
    "OTT-JAX": functools.partial(ott_plans, False),
    "OTT-JAX, in logarithms": functools.partial(ott_plans, True),
}
"""Plans (P, n, m) of costs (P, n, m) and masses of columns (P, m); rows are uniform."""


def torch_scores(name: str, regions: Tensor, words: Tensor, lengths: list[int], *setting: Any) -> Tensor:
    """−⟨T, C⟩ (N, M) of regions (N, R, E) and words (M, T, E), unit vectors."""
    cost, mask = pairs(regions, words, lengths)
    plans = SOLVERS[name](cost, mask / mask.sum(1, keepdim=True), *setting)
    return -(plans * cost).sum(dim=(1, 2)).reshape(len(regions), len(words))


@functools.partial(jax.jit, static_argnames=("name", "epsilon", "iterations"))
def ott_scores(name: str, regions: Any, words: Any, lengths: Any, epsilon: float, iterations: int) -> Any:
    """The same in JAX, compiled as a whole."""
    cost = 1 - jnp.einsum("nre,mte->nmrt", regions, words).reshape(-1, regions.shape[1], words.shape[1])
    mask = (jnp.arange(words.shape[1]) < lengths[:, None]) / lengths[:, None]
    plans = SOLVERS[name](cost, jnp.tile(mask, (len(regions), 1)), epsilon, iterations)
    return -(plans * cost).sum((1, 2)).reshape(len(regions), len(words))


def exact(cost: NDArray[Any], length: int) -> float:
    """The optimum of one pair in float64."""
    return float(ot.emd2([], [], cost[:, :length].astype("float64").copy()))
