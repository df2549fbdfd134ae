"""Scaling iterations of optimal transport, for many problems at once, in TensorFlow.

The problems lie along the *last* axis, (n, m, P): every sum over rows or columns then runs over P neighbours in memory.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import tensorflow as tf

__all__ = ["Problem", "Solution", "plan_of", "solve"]

Tensor = Any

_LARGEST_EXPONENT = 60.0
"""exp(±60), and sums and products of a few of them, are normal numbers in float32."""
_TINY, _HUGE = 1e-37, 1e15
"""The first keeps quotients finite; the second limits b where a column of A^t has fallen out of float32 on the way."""
_NEVER = -1e30
"""The logarithm of no mass."""


class Problem(NamedTuple):
    """P problems: costs (n, m, P) float32, and masses of rows (n, P) and columns (m, P); padding has mass 0.

    A constant may be taken from the costs of a problem, since the plan stays the same; the nearer they are to 0, the
    longer the iterations need no logarithms. ``proximal`` solves by IPOT, otherwise by Sinkhorn; ``beta`` is the step
    of the first, the weight of the entropy in the second.
    """

    cost: Tensor
    row_mass: Tensor
    column_mass: Tensor
    beta: float
    iterations: int
    proximal: bool = True

    @property
    def exists(self) -> Tensor:
        """(n, m, P) bool: entries between a row and a column that have mass."""
        return tf.logical_and(self.row_mass[:, None] > 0, self.column_mass[None] > 0)


class Solution(NamedTuple):
    """The plan (n, m, P), and the logarithms of the scalings of rows (n, P) and columns (m, P) that make it."""

    plan: Tensor
    rows: Tensor
    columns: Tensor


def solve(problem: Problem, largest_cost: float | Tensor) -> Solution:
    """Plans of P problems whose column sums are exact and whose row sums come nearer with each iteration.

    IPOT (Xie et al., 2019; algorithm 1 of the paper), with A = exp(−C/β): ``Q = A∘T; a = μ/(Q b); b = ν/(Qᵀa);
    T = diag(a) Q diag(b)``, b carried on from one iteration to the next. Since T after t iterations is
    ``diag(u) A^t diag(v)``, only u and v are updated. Sinkhorn is the same with A instead of A^t.

    Args:
        problem: with at least one iteration.
        largest_cost: at least max |C| over the entries that exist; it tells whether A is within float32, or everything
            must be done in logarithms.
    """
    period = _LARGEST_EXPONENT * problem.beta / largest_cost
    if isinstance(largest_cost, float):
        return _by_scalings(problem, int(period)) if period >= 1 else _in_logarithms(problem)
    whole = tf.cast(tf.minimum(period, 1e6), tf.int32)
    return tf.cond(period >= 1, lambda: _by_scalings(problem, whole), lambda: _in_logarithms(problem))


def plan_of(problem: Problem, rows: Tensor, columns: Tensor) -> Tensor:
    """The plan (n, m, P) again, from the logarithms of its scalings."""
    exponent = problem.iterations if problem.proximal else 1
    logarithm = rows[:, None] + columns[None] - problem.cost * (exponent / problem.beta)
    return tf.where(problem.exists, tf.exp(tf.minimum(logarithm, 0.0)), 0.0)


def _by_scalings(problem: Problem, period: int | Tensor) -> Solution:
    """After each ``period`` iterations the scalings move into the plan, before A^t leaves float32."""
    step = tf.where(problem.exists, tf.exp(-problem.cost / problem.beta), 0.0)
    one = tf.cast(problem.column_mass > 0, tf.float32)
    # The scale of v cancels in the plan. Where it starts at 1, it falls by 1/M with each iteration of IPOT.
    uniform = _uniform(problem)

    def iteration(kernel: Tensor, _: Tensor, v: Tensor, carried: Tensor) -> tuple[Tensor, ...]:
        kernel = kernel * step if problem.proximal else kernel
        u = problem.row_mass / (tf.reduce_sum(kernel * carried, axis=1) + _TINY)
        new = problem.column_mass / (tf.reduce_sum(kernel * u[:, None], axis=0) + _TINY)
        return kernel, u, new, tf.math.divide_no_nan(new, v) * new if problem.proximal else new

    def segment(
        start: Tensor, plan: Tensor, v: Tensor, carried: Tensor, rows: Tensor, columns: Tensor
    ) -> tuple[Tensor, ...]:
        length = tf.minimum(period, problem.iterations - start)
        first = (plan, tf.zeros_like(problem.row_mass), v, carried)
        kernel, u, v, carried = tf.while_loop(lambda *_: True, iteration, first, maximum_iterations=length)
        carried = tf.clip_by_value(tf.math.divide_no_nan(carried, v), 1 / _HUGE, _HUGE) * one
        return start + length, kernel * u[:, None] * v, one, carried, rows + _log(u), columns + _log(v)

    plan = tf.ones_like(step) if problem.proximal else step
    first = (0, plan, uniform, uniform, tf.zeros_like(problem.row_mass), tf.zeros_like(one))
    _, plan, _, _, rows, columns = tf.while_loop(lambda start, *_: start < problem.iterations, segment, first)
    return Solution(plan, rows, columns)


def _in_logarithms(problem: Problem) -> Solution:
    """The same in logarithms, kept in the plan at every iteration, where what counts stays near 0."""
    step = problem.cost / problem.beta
    log_rows, log_columns, exists = _log(problem.row_mass), _log(problem.column_mass), problem.exists
    none = tf.zeros_like(log_columns)

    def iteration(plan: Tensor, rows: Tensor, columns: Tensor, carried: Tensor) -> tuple[Tensor, ...]:
        plan = plan - step if problem.proximal else plan
        a = tf.maximum(log_rows - _log_sum_exp(plan + carried, exists, axis=1), _NEVER)
        b = tf.maximum(log_columns - _log_sum_exp(plan + a[:, None], exists, axis=0), _NEVER)
        return plan + a[:, None] + b, rows + a, columns + b, b if problem.proximal else none

    plan, carried = (tf.zeros_like(step), _log(_uniform(problem))) if problem.proximal else (-step, none)
    first = (tf.where(exists, plan, _NEVER), tf.zeros_like(log_rows), none, carried)
    plan, rows, columns, _ = tf.while_loop(lambda *_: True, iteration, first, maximum_iterations=problem.iterations)
    return Solution(tf.where(exists, tf.exp(tf.minimum(plan, 0.0)), 0.0), rows, columns)


def _uniform(problem: Problem) -> Tensor:
    """1/M on the M columns that have mass: what the first b of the algorithm is."""
    one = tf.cast(problem.column_mass > 0, tf.float32)
    return tf.math.divide_no_nan(one, tf.reduce_sum(one, axis=0, keepdims=True))


def _log(values: Tensor) -> Tensor:
    return tf.where(values > 0, tf.math.log(tf.maximum(values, _TINY)), _NEVER)


def _log_sum_exp(values: Tensor, exists: Tensor, axis: int) -> Tensor:
    """Over the entries that exist; 0 where there is none, since nothing will be divided by it."""
    values = tf.where(exists, values, _NEVER)
    largest = tf.reduce_max(values, axis=axis, keepdims=True)
    total = tf.reduce_sum(tf.where(exists, tf.exp(values - largest), 0.0), axis=axis)
    return tf.where(total > 0, tf.squeeze(largest, axis) + tf.math.log(tf.maximum(total, _TINY)), 0.0)
