"""Scores and gradients of blocks of pairs of sets, under XLA: what `vse_zoo.ops.set_scores` loops over.

The pairs lie along the last axis, as in `vse_zoo.ops.scaling`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import tensorflow as tf

from vse_zoo.ops.rounding import round_plan
from vse_zoo.ops.scaling import Problem, needs_logarithms, solve

__all__ = ["Options", "gradients_of_block", "gradients_of_pairs", "scores_of_block"]

Tensor = Any

_NONE = -1e30


class Options(NamedTuple):
    """The arguments of `set_scores`."""

    by_word: bool
    transport: bool
    beta: float
    iterations: int
    feasible: bool


def scores_of_block(
    regions: Tensor, region_mask: Tensor, words: Tensor, word_mask: Tensor, *, options: Options
) -> tuple[Tensor, Tensor]:
    """Both scores (C, S) of regions (C, R, E) with words (T, S, E), one picture after another."""
    return tf.map_fn(
        lambda picture: _scores(picture[0], picture[1][:, None], word_mask, options),
        (_products(regions, words), region_mask),
        fn_output_signature=(tf.float32, tf.float32),
    )


def gradients_of_block(
    regions: Tensor,
    region_mask: Tensor,
    slopes: tuple[Tensor, Tensor],
    words: Tensor,
    word_mask: Tensor,
    *,
    options: Options,
) -> tuple[Tensor, Tensor]:
    """The gradients to regions (C, R, E) and words (T, S, E), from those to both scores, (C, S) each."""
    by_products = tf.map_fn(
        lambda picture: _slopes(picture[0], picture[1][:, None], word_mask, picture[2], options),
        (_products(regions, words), region_mask, slopes),
        fn_output_signature=tf.float32,
    )
    flat = tf.reshape(by_products, [tf.size(region_mask), tf.size(word_mask)])
    flat_regions, flat_words = (tf.reshape(each, [-1, tf.shape(each)[-1]]) for each in (regions, words))
    into_regions, into_words = tf.matmul(flat, flat_words), tf.matmul(flat, flat_regions, transpose_a=True)
    return tf.reshape(into_regions, tf.shape(regions)), tf.reshape(into_words, tf.shape(words))


def gradients_of_pairs(
    regions: Tensor,
    region_mask: Tensor,
    words: Tensor,
    word_mask: Tensor,
    slopes: tuple[Tensor, Tensor],
    *,
    options: Options,
) -> tuple[Tensor, Tensor]:
    """The gradients to regions (P, R, E) and words (P, T, E), set by set, from those to both scores, (P,) each."""
    products = tf.transpose(tf.matmul(regions, words, transpose_b=True), (1, 2, 0))
    by_products = _slopes(products, tf.transpose(region_mask), tf.transpose(word_mask), slopes, options)
    by_products = tf.transpose(by_products, (2, 0, 1))
    return tf.matmul(by_products, words), tf.matmul(by_products, regions, transpose_a=True)


def _products(regions: Tensor, words: Tensor) -> Tensor:
    """(C, R, E) and (T, S, E) to (C, R, T, S)."""
    flat_regions, flat_words = (tf.reshape(each, [-1, tf.shape(each)[-1]]) for each in (regions, words))
    shape = tf.concat([tf.shape(regions)[:2], tf.shape(words)[:2]], 0)
    return tf.reshape(tf.matmul(flat_regions, flat_words, transpose_b=True), shape)


def _scores(products: Tensor, rows: Tensor, columns: Tensor, options: Options) -> tuple[Tensor, Tensor]:
    """Both scores (P,) of inner products (n, m, P), and what is real: rows (n, P or 1), columns (m, P)."""
    axis, inner, outer = (0, rows[:, None], columns) if options.by_word else (1, columns[None], rows)
    best = tf.reduce_max(tf.where(inner, products, _NONE), axis=axis)
    best = tf.reduce_sum(tf.where(outer, best, 0.0), axis=0)
    if not options.transport:
        return best, tf.zeros_like(best)
    return best, tf.reduce_sum(_plan(products, rows, columns, options) * (products - 1.0), axis=(0, 1))


def _slopes(products: Tensor, rows: Tensor, columns: Tensor, slopes: tuple[Tensor, Tensor], options: Options) -> Tensor:
    """The gradient to the inner products, (n, m, P): equal best matches share theirs."""
    axis = 0 if options.by_word else 1
    exists = tf.logical_and(rows[:, None], columns)
    found = tf.where(exists, products, _NONE)
    chosen = tf.cast(tf.logical_and(exists, found == tf.reduce_max(found, axis=axis, keepdims=True)), tf.float32)
    gradient = slopes[0] * tf.math.divide_no_nan(chosen, tf.reduce_sum(chosen, axis=axis, keepdims=True))
    return gradient + slopes[1] * _plan(products, rows, columns, options) if options.transport else gradient


def _plan(products: Tensor, rows: Tensor, columns: Tensor, options: Options) -> Tensor:
    row_mass, column_mass = _uniform(rows), _uniform(columns)
    # The cost is 1 − products: without the 1 the plan is the same, and max |C| is 1.
    problem = Problem(-products, row_mass, column_mass, options.beta, options.iterations)
    plan = solve(problem, needs_logarithms(1.0, options.beta))
    return round_plan(plan, row_mass, column_mass) if options.feasible else plan


def _uniform(side: Tensor) -> Tensor:
    mass = tf.cast(side, tf.float32)
    return tf.math.divide_no_nan(mass, tf.reduce_sum(mass, axis=0))
