"""Lower bounds of the cost of optimal transport: what no plan with the right marginals can cost less than.

All but the capacity bound are values Σ f/n + Σ g/m of *dual feasible* potentials, f_k + g_l ≤ C_kl: by weak duality
⟨T, C⟩ = Σ T_kl C_kl ≥ Σ T_kl (f_k + g_l) = Σ f/n + Σ g/m for every plan T ≥ 0 with row sums 1/n and column sums 1/m.
The c-transform g_l = min_k (C_kl − f_k) is the best partner of f, feasible for any f at all, so however f was found the
bound holds. Each bound subtracts a slack for float32 (`ROUNDING`): it stays below the cost of float32 plans too.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

__all__ = ["ROUNDING", "capacity_bound", "column_bound", "dual_bound", "dual_value", "row_bound"]

Tensor = Any

ROUNDING = 2.0**-22
"""A bound's slack is this · (n + m + 8) · max|C|: four units in the last place for every term that is summed."""

_LEAST = 1e-7
"""ε where all reduced costs are 0."""

_FAR = 1e30
"""The cost of padding, which no minimum takes."""


def column_bound(cost: Tensor, row_mask: Tensor, column_mask: Tensor) -> Tensor:
    """Every column ships its mass to its cheapest row: Σ_l min_k C_kl / m, the dual value with f = 0.

    Args:
        cost: (P, n, m) float32, finite where not masked.
        row_mask: (P, n) bool, True on real rows; every problem has at least one.
        column_mask: (P, m) bool, for columns.

    Returns:
        (P,) float32.
    """
    cost, rows, columns = _prepared(cost, row_mask, column_mask)
    return _value(0.0 * rows, _columns(cost, 0.0, columns), rows, columns) - _slack(cost, rows, columns)


def row_bound(cost: Tensor, row_mask: Tensor, column_mask: Tensor) -> Tensor:
    """Every row ships its mass to its cheapest column: Σ_k min_l C_kl / n, the dual value with g = 0.

    Shapes as `column_bound`.
    """
    return column_bound(tf.transpose(cost, (0, 2, 1)), column_mask, row_mask)


def capacity_bound(cost: Tensor, row_mask: Tensor, column_mask: Tensor) -> Tensor:
    """Every column ships 1/m to its cheapest rows, at most 1/n to each; the same for rows; the larger of both.

    A plan's column is one way to ship 1/m with at most 1/n a row, so it costs at least as much.
    Shapes as `column_bound`.
    """
    sides = ((cost, row_mask, column_mask), (tf.transpose(cost, (0, 2, 1)), column_mask, row_mask))
    return tf.maximum(*(_capacity(*_prepared(*side)) for side in sides))


def _capacity(cost: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    n, m = (tf.reduce_sum(side, (-3, -2), keepdims=True) for side in (rows, columns))
    before = tf.cast(tf.range(tf.shape(cost)[-3]), tf.float32)[:, None, None] / n  # shipped to cheaper rows
    shipped = tf.clip_by_value(1 / m - before, 0.0, 1 / n) * columns
    total = tf.where(shipped > 0, tf.sort(cost, axis=-3) * shipped, 0.0)
    return tf.reduce_sum(total, (-3, -2)) - _slack(cost, rows, columns)


def dual_bound(cost: Tensor, row_mask: Tensor, column_mask: Tensor, rounds: int = 2) -> Tensor:
    """The largest value of the c-transforms of both sides and of ``rounds`` of smoothed ascent (`dual_value`).

    Shapes as `column_bound`. At least `column_bound` and `row_bound`, at most the exact optimum.
    """
    cost, rows, columns = _prepared(cost, row_mask, column_mask)
    return dual_value(cost, rows, columns, rounds) - _slack(cost, rows, columns)


def dual_value(cost: Tensor, rows: Tensor, columns: Tensor, rounds: int) -> Tensor:
    """The bound of `dual_bound` without its slack, in the layout that is fast: problems last.

    Starts from g = min_k C, f = min_l (C − g) and from the same with the sides exchanged. A round of ascent takes one
    Sinkhorn step on the reduced costs C − f − g ≥ 0 at ε = a part of their mean, halved each round, and c-transforms
    the potentials it gives, which makes them feasible again.

    Args:
        cost: (…, n, m, P) float32, 1e30 on padding.
        rows: (…, n, 1, P) float32, 1 on real rows, 0 on padding; axes of size 1 broadcast.
        columns: (…, 1, m, P), for columns.
        rounds: of ascent, 0 or more.

    Returns:
        (…, P) float32.
    """
    g = _columns(cost, 0.0, columns)
    best = _value(_rows(cost, g, rows), g, rows, columns)
    f = _rows(cost, 0.0, rows)
    g = _columns(cost, f, columns)
    best = tf.maximum(best, _value(f, g, rows, columns))
    for step in range(rounds):
        g = g + _ascent(cost, f, g, rows, columns, 0.5 ** (step + 1))
        f = _rows(cost, g, rows)
        g = _columns(cost, f, columns)
        best = tf.maximum(best, _value(f, g, rows, columns))
    return best


def _ascent(cost: Tensor, f: Tensor, g: Tensor, rows: Tensor, columns: Tensor, part: float) -> Tensor:
    """What one Sinkhorn step on the reduced costs adds to g."""
    real = rows * columns
    reduced = tf.where(real > 0, cost - f - g, 0.0)
    mean = tf.reduce_sum(reduced, (-3, -2), keepdims=True) / tf.reduce_sum(real, (-3, -2), keepdims=True)
    epsilon = tf.maximum(part * mean, _LEAST)
    kernel = real * tf.exp(-reduced / epsilon)
    a = rows / tf.maximum(tf.reduce_sum(kernel, -2, keepdims=True), 1e-30)
    b = tf.reduce_sum(kernel * a, -3, keepdims=True)
    return tf.where(columns > 0, -epsilon * tf.math.log(tf.maximum(b, 1e-30)), 0.0)


def _columns(cost: Tensor, f: Tensor, columns: Tensor) -> Tensor:
    return tf.where(columns > 0, tf.reduce_min(cost - f, -3, keepdims=True), 0.0)


def _rows(cost: Tensor, g: Tensor, rows: Tensor) -> Tensor:
    return tf.where(rows > 0, tf.reduce_min(cost - g, -2, keepdims=True), 0.0)


def _value(f: Tensor, g: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    sums = [
        tf.reduce_sum(potential, (-3, -2)) / tf.reduce_sum(side, (-3, -2))
        for potential, side in ((f, rows), (g, columns))
    ]
    return sums[0] + sums[1]


def _prepared(cost: Tensor, row_mask: Tensor, column_mask: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Costs (n, m, P), far on padding, and the masks (n, 1, P), (1, m, P)."""
    rows = tf.transpose(tf.cast(row_mask, tf.float32))[:, None]
    columns = tf.transpose(tf.cast(column_mask, tf.float32))[None]
    cost = tf.transpose(tf.cast(cost, tf.float32), (1, 2, 0))
    return tf.where(rows * columns > 0, cost, _FAR), rows, columns


def _slack(cost: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    largest = tf.reduce_max(tf.where(rows * columns > 0, tf.abs(cost), 0.0), (-3, -2))
    return ROUNDING * (tf.reduce_sum(rows, (-3, -2)) + tf.reduce_sum(columns, (-3, -2)) + 8) * (largest + 10 * _LEAST)
