"""Optimal transport plans between masked sets, a batch of problems at a time."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import tensorflow as tf

from vse_zoo.ops.blocks import in_blocks, padded
from vse_zoo.ops.rounding import round_plan
from vse_zoo.ops.scaling import Problem, needs_logarithms, solve

__all__ = ["METHODS", "TransportPlan", "check_solver", "compiled", "transport_plan"]

Tensor = Any

METHODS = ("ipot", "sinkhorn")
_BLOCK = 32
"""Problems solved at a time: 32 of 36 × 25 fit into a core's second-level cache."""


class TransportPlan(NamedTuple):
    """Plans (P, n, m) float32, and the mass that breaks their marginals, (P,) float32.

    The error is half of Σ|row sum − row mass| + Σ|column sum − column mass|, in [0, 1].
    """

    plan: Tensor
    error: Tensor


def transport_plan(
    cost: Tensor,
    row_mask: Tensor | None = None,
    column_mask: Tensor | None = None,
    *,
    beta: float = 0.5,
    iterations: int = 20,
    method: str = "ipot",
    row_mass: Tensor | None = None,
    column_mass: Tensor | None = None,
    feasible: bool = False,
    differentiate: bool = False,
) -> TransportPlan:
    """Plans T that approximately minimise ⟨T, C⟩ over T ≥ 0 with given row and column sums.

    "ipot" is the inexact proximal point method (Xie et al., 2019; algorithm 1 of Cross-domain alignment with optimal
    transport), which comes near the unregularised optimum; "sinkhorn" (Cuturi, 2013) that of ⟨T, C⟩ − β·entropy(T).
    Column sums are exact, row sums as the error says. Where exp(−C/β) leaves float32, it iterates in logarithms.

    Args:
        cost: (P, n, m), any float type, finite where not masked; all is computed in float32.
        row_mask: (P, n) bool, True on real rows; all by default. Padding gets exactly 0 in the plan.
        column_mask: (P, m) bool, for columns.
        beta: β, the proximal step or the entropy's weight, in units of the cost.
        iterations: at least 1.
        method: "ipot" or "sinkhorn".
        row_mass: (P, n) ≥ 0, uniform over the real rows by default. Masked, then scaled to the sum 1.
        column_mass: (P, m), for columns.
        feasible: round the plan so that its marginals are exact.
        differentiate: let gradients flow through the iterations. Otherwise the plan is a constant: by the envelope
            theorem, T is then the gradient of ⟨T, C⟩.

    Returns:
        A `TransportPlan`. A problem without rows, without columns or without mass has the plan 0 and the error 0.

    Raises:
        ValueError: β isn't positive, iterations is less than 1, or the method is unknown.
    """
    check_solver(beta, iterations, method)
    cost = tf.cast(cost, tf.float32)
    rows, columns = _masses(row_mask, row_mass, cost[:, :, 0]), _masses(column_mask, column_mass, cost[:, 0, :])
    rows, columns = _possible(rows, columns)
    cost = _centred(cost, rows, columns)
    options = {"beta": beta, "iterations": iterations, "proximal": method == "ipot", "feasible": feasible}
    if differentiate:
        plan = _solver(lambda function: function, options)(cost, rows, columns)
    else:
        plan = _blocks(**options)(*map(tf.stop_gradient, (cost, rows, columns)))
    gaps = [tf.reduce_sum(tf.abs(tf.reduce_sum(plan, axis) - mass), 1) for axis, mass in ((2, rows), (1, columns))]
    return TransportPlan(plan, 0.5 * (gaps[0] + gaps[1]))


def check_solver(beta: float, iterations: int, method: str = "ipot") -> None:
    """Raises a `ValueError` where β isn't positive, there is no iteration or the method is unknown."""
    if not beta > 0 or iterations < 1 or method not in METHODS:
        expected = f"beta > 0, iterations ≥ 1 and a method of {', '.join(METHODS)}"
        raise ValueError(f"found beta={beta}, iterations={iterations}, method={method!r}; expected {expected}.")


@functools.lru_cache(maxsize=64)
def _compiled(function: Callable[..., Any], options: tuple[tuple[str, Any], ...]) -> Any:
    return tf.function(functools.partial(function, **dict(options)), jit_compile=True, autograph=False)


def compiled(function: functools.partial[Any]) -> Any:
    """A partial function under XLA; equal functions with equal options share one compilation."""
    return _compiled(function.func, tuple(sorted(function.keywords.items())))


def _masses(mask: Tensor | None, mass: Tensor | None, like: Tensor) -> Tensor:
    """(P, n) masses of sum 1; 0 where there is none."""
    mass = tf.ones_like(like) if mass is None else tf.cast(mass, tf.float32)
    mass = mass if mask is None else tf.where(tf.cast(mask, tf.bool), mass, 0.0)
    return tf.math.divide_no_nan(mass, tf.reduce_sum(mass, axis=1, keepdims=True))


def _possible(rows: Tensor, columns: Tensor) -> tuple[Tensor, Tensor]:
    """The masses (P, n), (P, m); a problem with an empty side has nothing to transport on the other one either."""
    possible = tf.cast((tf.reduce_sum(rows, 1) > 0) & (tf.reduce_sum(columns, 1) > 0), tf.float32)[:, None]
    return rows * possible, columns * possible


def _centred(cost: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    """Costs (P, n, m) around 0, each problem by itself: the plans are the same, and exp(−C/β) stays nearer to 1."""
    exists = tf.logical_and(rows[:, :, None] > 0, columns[:, None] > 0)
    least = tf.reduce_min(tf.where(exists, cost, cost.dtype.max), axis=(1, 2), keepdims=True)
    most = tf.reduce_max(tf.where(exists, cost, cost.dtype.min), axis=(1, 2), keepdims=True)
    return tf.where(exists, cost - 0.5 * (least + most), 0.0)


def _plans(
    cost: Tensor,
    rows: Tensor,
    columns: Tensor,
    *,
    logarithms: bool,
    beta: float,
    iterations: int,
    proximal: bool,
    feasible: bool,
) -> Tensor:
    """Plans (P, n, m) of costs (P, n, m)."""
    cost, rows, columns = tf.transpose(cost, (1, 2, 0)), tf.transpose(rows), tf.transpose(columns)
    plan = solve(Problem(cost, rows, columns, beta, iterations, proximal), logarithms)
    return tf.transpose(round_plan(plan, rows, columns) if feasible else plan, (2, 0, 1))


@functools.lru_cache(maxsize=64)
def _blocks(**options: Any) -> Any:
    """The loop over blocks as one graph, so that it runs alike from anywhere."""
    return tf.function(functools.partial(_in_blocks, options), reduce_retracing=True, autograph=False)


def _in_blocks(options: dict[str, Any], cost: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    """A block of problems at a time, each compiled once for its n and m; two of them run side by side."""
    blocks = [in_blocks(padded(each, 0, _BLOCK), _BLOCK) for each in (cost, rows, columns)]
    solver = _solver(compiled, options)
    plans = tf.map_fn(lambda block: solver(*block), blocks, fn_output_signature=tf.float32, parallel_iterations=4)
    return tf.reshape(plans, tf.concat([[-1], tf.shape(cost)[1:]], 0))[: tf.shape(cost)[0]]


def _solver(wrap: Callable[..., Any], options: dict[str, Any]) -> Callable[..., Tensor]:
    """Plans in logarithms only where the costs need it; each way compiled when it is first taken."""
    plain, logarithms = (wrap(functools.partial(_plans, logarithms=each, **options)) for each in (False, True))

    def plans(*problems: Tensor) -> Tensor:
        needed = needs_logarithms(tf.reduce_max(tf.abs(problems[0])), options["beta"])
        return tf.cond(needed, lambda: logarithms(*problems), lambda: plain(*problems))

    return plans
