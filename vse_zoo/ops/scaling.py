"""Scaling iterations of optimal transport, for many problems at once, in TensorFlow.

The problems lie along the *last* axis, (n, m, P): every sum over rows or columns then runs over P neighbours in memory.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import tensorflow as tf

__all__ = ["Problem", "needs_logarithms", "solve"]

Tensor = Any

_LARGEST_EXPONENT = 40.0
"""exp(±40), and products of two of them, are normal numbers in float32."""
_TINY = 1e-37
"""Keeps quotients finite."""
_NEVER = -1e30
"""The logarithm of no mass."""


class Problem(NamedTuple):
    """P problems: costs (n, m, P) float32, and masses of rows (n, P) and columns (m, P); padding has mass 0.

    A constant may be taken from the costs of a problem, since the plan stays the same; the nearer they are to 0, the
    sooner the iterations need no logarithms. ``proximal`` solves by IPOT, otherwise by Sinkhorn; ``beta`` is the step
    of the first, the weight of the entropy in the second. Masses that all problems share may have P = 1.
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


def needs_logarithms(largest_cost: float | Tensor, beta: float) -> Any:
    """Whether costs of up to ``largest_cost`` in size take exp(−C/β) too far towards the ends of float32."""
    return largest_cost > _LARGEST_EXPONENT * beta


def solve(problem: Problem, logarithms: bool) -> Tensor:
    """Plans (n, m, P) whose column sums are exact and whose row sums come nearer with each iteration.

    IPOT (Xie et al., 2019; algorithm 1 of the paper), with A = exp(−C/β): ``Q = A∘T; a = μ/(Q b); b = ν/(Qᵀa);
    T = diag(a) Q diag(b)``, b carried on from one iteration to the next. Sinkhorn is the same with Q = T and b = 1,
    starting from A.

    Args:
        problem: with at least one iteration.
        logarithms: do everything in logarithms, as the costs may need it (`needs_logarithms`); ten times slower.
    """
    return _in_logarithms(problem) if logarithms else _directly(problem)


def _directly(problem: Problem) -> Tensor:
    step = tf.where(problem.exists, tf.exp(-problem.cost / problem.beta), 0.0)
    one = tf.cast(problem.column_mass > 0, tf.float32)

    def iteration(kernel: Tensor, carried: Tensor) -> tuple[Tensor, Tensor]:
        a = problem.row_mass / (tf.reduce_sum(kernel * carried, axis=1) + _TINY)
        b = problem.column_mass / (_sum_of_rows(kernel, a) + _TINY)
        plan = a[:, None] * kernel * b
        return (step * plan, b) if problem.proximal else (plan, one)

    first = (step, _uniform(problem) if problem.proximal else one)
    kernel, _ = tf.while_loop(lambda *_: True, iteration, first, maximum_iterations=problem.iterations)
    # By IPOT the kernel is that of the next iteration already: to end with half of one would double what is compiled.
    return tf.math.divide_no_nan(kernel, step) if problem.proximal else kernel


def _sum_of_rows(kernel: Tensor, weights: Tensor) -> Tensor:
    """Σ_k w_k K_k of (n, m, P) and (n, P). XLA on CPUs sums such halves twice as fast as the whole."""
    weights, half = weights[:, None], tf.shape(kernel)[0] // 2
    halves = kernel[:half] * weights[:half] + kernel[half : 2 * half] * weights[half : 2 * half]
    return tf.reduce_sum(halves, axis=0) + tf.reduce_sum(kernel[2 * half :] * weights[2 * half :], axis=0)


def _in_logarithms(problem: Problem) -> Tensor:
    """The same in logarithms, kept in the plan at every iteration, where what counts stays near 0."""
    step = problem.cost / problem.beta
    log_rows, log_columns, exists = _log(problem.row_mass), _log(problem.column_mass), problem.exists
    none = tf.zeros_like(log_columns)

    def iteration(plan: Tensor, carried: Tensor) -> tuple[Tensor, Tensor]:
        plan = plan - step if problem.proximal else plan
        a = tf.maximum(log_rows - _log_sum_exp(plan + carried, exists, axis=1), _NEVER)
        b = tf.maximum(log_columns - _log_sum_exp(plan + a[:, None], exists, axis=0), _NEVER)
        return plan + a[:, None] + b, b if problem.proximal else none

    plan, carried = (tf.zeros_like(step), _log(_uniform(problem))) if problem.proximal else (-step, none)
    first = (tf.where(exists, plan, _NEVER), carried)
    plan, _ = tf.while_loop(lambda *_: True, iteration, first, maximum_iterations=problem.iterations)
    return tf.where(exists, tf.exp(tf.minimum(plan, 0.0)), 0.0)


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
