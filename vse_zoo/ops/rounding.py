"""Plans rounded to exact marginals (Altschuler et al., 2017, algorithm 2)."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

__all__ = ["round_plan"]

Tensor = Any


def round_plan(plan: Tensor, row_mass: Tensor, column_mass: Tensor) -> Tensor:
    """The nearest cheap plan with exactly these marginals: rows, then columns, scaled down to their masses, and what is
    missing added as a product.

    Args:
        plan: (n, m, P), not negative.
        row_mass: (n, P); column_mass: (m, P); equal totals for each of the P problems.

    Returns:
        (n, m, P); its sums are the masses to float32 rounding.
    """
    plan = plan * _shrinking(row_mass, tf.reduce_sum(plan, axis=1))[:, None]
    plan = plan * _shrinking(column_mass, tf.reduce_sum(plan, axis=0))[None]
    rows = tf.maximum(row_mass - tf.reduce_sum(plan, axis=1), 0.0)
    columns = tf.maximum(column_mass - tf.reduce_sum(plan, axis=0), 0.0)
    total = tf.reduce_sum(rows, axis=0)
    return plan + tf.math.divide_no_nan(rows, total)[:, None] * columns[None]


def _shrinking(mass: Tensor, found: Tensor) -> Tensor:
    return tf.minimum(tf.math.divide_no_nan(mass, found), 1.0)
