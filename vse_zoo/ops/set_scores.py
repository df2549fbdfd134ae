"""Scores of every set of one batch with every set of another: the best matches' cosines, and optimal transport."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import tensorflow as tf

from vse_zoo.ops.rounding import round_plan
from vse_zoo.ops.scaling import Problem, plan_of, solve
from vse_zoo.ops.transport import check_solver, compiled

__all__ = ["SetScores", "set_scores"]

Tensor = Any

_TILE = 128
"""Sets of either side in a tile. A tile's intermediate values are all that is in memory at a time."""
_MULTIPLE = 4
"""Words are padded to a multiple of it, so that few shapes are compiled."""


_NONE = -1e30


class SetScores(NamedTuple):
    """(N, M) float32 each: sums of the best matches' inner products, and −⟨T, C⟩ (0 where not asked for)."""

    best: Tensor
    transport: Tensor


def set_scores(
    regions: Tensor,
    region_mask: Tensor,
    words: Tensor,
    word_mask: Tensor,
    *,
    by_word: bool = True,
    transport: bool = True,
    beta: float = 0.5,
    iterations: int = 20,
    feasible: bool = False,
) -> SetScores:
    """Scores of all pairs of N pictures and M sentences, one tile of pairs in memory at a time.

    With s = ⟨region, word⟩ and C = 1 − s: ``Σ_m max_k s_km`` over the words or ``Σ_k max_m s_km`` over the regions; and
    ``−⟨T, C⟩``, T by IPOT with uniform masses over the real regions and words. The gradient of the second is T, as the
    envelope theorem has it: none flows through the plan.

    Args:
        regions: (N, R, E) unit vectors, any float type; all is computed in float32.
        region_mask: (N, R) bool, at least one region each.
        words: (M, T, E) unit vectors.
        word_mask: (M, T) bool, at least one word each.
        by_word: sum over words, otherwise over regions.
        transport: compute the transport too.
        beta, iterations, feasible: as in `transport_plan`.

    Returns:
        `SetScores`.
    """
    check_solver(beta, iterations)
    options = (by_word, transport, beta, iterations, feasible)
    arguments = (
        tf.cast(regions, tf.float32),
        tf.cast(region_mask, tf.bool),
        tf.cast(words, tf.float32),
        tf.cast(word_mask, tf.bool),
    )
    return SetScores(*_graph(*options)(*arguments))


@functools.lru_cache(maxsize=64)
def _graph(by_word: bool, transport: bool, beta: float, iterations: int, feasible: bool) -> Any:
    """The loops over tiles as one graph, so that they run alike from anywhere."""
    options: dict[str, Any] = {"by_word": by_word, "transport": transport, "beta": beta, "iterations": iterations}
    options["feasible"] = feasible
    tile = functools.partial(_tile, functools.partial(_forward, **options), functools.partial(_backward, **options))
    return tf.function(functools.partial(_all_tiles, tile), reduce_retracing=True)


def _all_tiles(tile: Callable[..., Any], regions: Tensor, region_mask: Tensor, words: Tensor, word_mask: Tensor) -> Any:
    more = -tf.shape(words)[1] % _MULTIPLE
    vectors, exist = _tiles([tf.pad(words, [[0, 0], [0, more], [0, 0]]), tf.pad(word_mask, [[0, 0], [0, more]])])
    # Words first: the sentences then lie along the last axis of the inner products.
    sentences = (tf.transpose(vectors, (0, 2, 1, 3)), tf.transpose(exist, (0, 2, 1)))
    signature = (tf.float32, tf.float32)

    def row(pictures: tuple[Tensor, ...]) -> Any:
        scores = functools.partial(tile, *pictures)
        return tf.map_fn(lambda s: scores(*s), sentences, fn_output_signature=signature, parallel_iterations=1)

    pictures = tuple(_tiles([regions, region_mask]))
    grids = tf.map_fn(row, pictures, fn_output_signature=signature, parallel_iterations=1)
    return tuple(_joined(grid)[: tf.shape(regions)[0], : tf.shape(words)[0]] for grid in grids)


def _tiles(parts: list[Tensor]) -> list[Tensor]:
    """(N, …) to (tiles, size, …), padded; small batches are one tile of a multiple of 16."""
    count = tf.shape(parts[0])[0]
    size = tf.minimum(_TILE, -(-count // 16) * 16)
    padded = [tf.pad(part, [[0, -count % size], *[[0, 0]] * (len(part.shape) - 1)]) for part in parts]
    return [tf.reshape(part, tf.concat([[-1, size], tf.shape(part)[1:]], 0)) for part in padded]


def _joined(grid: Tensor) -> Tensor:
    """(tiles, tiles, n, m) to (N, M)."""
    shape = tf.shape(grid)
    return tf.reshape(tf.transpose(grid, (0, 2, 1, 3)), [shape[0] * shape[2], shape[1] * shape[3]])


def _tile(
    forward: functools.partial[Any],
    backward: functools.partial[Any],
    regions: Tensor,
    region_mask: Tensor,
    words: Tensor,
    word_mask: Tensor,
) -> tuple[Tensor, Tensor]:
    """Scores (n, m) of regions (n, R, E) with words (T, m, E), and their gradient."""

    @tf.custom_gradient
    def scores(regions: Tensor, words: Tensor) -> Any:
        score = compiled(forward)
        best, transport, rows, columns = tf.map_fn(
            lambda picture: score(*picture, words, word_mask),
            (regions, region_mask),
            fn_output_signature=(tf.float32, tf.float32, tf.float32, tf.float32),
            parallel_iterations=4,
        )

        def gradient(best_gradient: Tensor, transport_gradient: Tensor) -> tuple[Tensor, Tensor]:
            slope = compiled(backward)
            products = tf.map_fn(
                lambda picture: slope(*picture, words=words, word_mask=word_mask),
                (regions, region_mask, rows, columns, best_gradient, transport_gradient),
                fn_output_signature=tf.float32,
                parallel_iterations=4,
            )
            flat = tf.reshape(products, [tf.size(region_mask), tf.size(word_mask)])
            vectors = [tf.reshape(each, [-1, tf.shape(each)[-1]]) for each in (regions, words)]
            into_regions = tf.reshape(tf.matmul(flat, vectors[1]), tf.shape(regions))
            into_words = tf.reshape(tf.matmul(flat, vectors[0], transpose_a=True), tf.shape(words))
            return into_regions, into_words

        return (best, transport), gradient

    return scores(regions, words)


def _forward(
    regions: Tensor,
    region_mask: Tensor,
    words: Tensor,
    word_mask: Tensor,
    *,
    by_word: bool,
    transport: bool,
    **options: Any,
) -> tuple[Tensor, ...]:
    """A picture (R, E) with m sentences (T, m, E): both scores (m,), the logarithms of both scalings (R, m), (T, m)."""
    products = _products(regions, words)
    axis = 0 if by_word else 1
    exists, outer = (region_mask[:, None, None], word_mask) if by_word else (word_mask, region_mask[:, None])
    best = tf.reduce_max(tf.where(exists, products, _NONE), axis=axis)
    best = tf.reduce_sum(tf.where(outer, best, 0.0), axis=0)
    problem = _problem(products, region_mask, word_mask, options)
    if not transport:
        return best, tf.zeros_like(best), problem.row_mass, problem.column_mass
    solution = solve(problem, 1.0)
    plan = round_plan(solution.plan, problem.row_mass, problem.column_mass) if options["feasible"] else solution.plan
    return best, tf.reduce_sum(plan * (products - 1.0), axis=(0, 1)), solution.rows, solution.columns


def _backward(
    regions: Tensor,
    region_mask: Tensor,
    rows: Tensor,
    columns: Tensor,
    best_gradient: Tensor,
    transport_gradient: Tensor,
    words: Tensor,
    word_mask: Tensor,
    *,
    by_word: bool,
    transport: bool,
    **options: Any,
) -> Tensor:
    """The gradient with respect to the inner products, (R, T, m)."""
    products = _products(regions, words)
    axis = 0 if by_word else 1
    exists = tf.logical_and(region_mask[:, None, None], word_mask)
    found = tf.where(exists, products, _NONE)
    chosen = tf.cast(tf.logical_and(exists, found == tf.reduce_max(found, axis=axis, keepdims=True)), tf.float32)
    gradient = best_gradient * tf.math.divide_no_nan(chosen, tf.reduce_sum(chosen, axis=axis, keepdims=True))
    if not transport:
        return gradient
    problem = _problem(products, region_mask, word_mask, options)
    plan = plan_of(problem, rows, columns)
    plan = round_plan(plan, problem.row_mass, problem.column_mass) if options["feasible"] else plan
    return gradient + transport_gradient * plan


def _products(regions: Tensor, words: Tensor) -> Tensor:
    """(R, E) and (T, m, E) to (R, T, m)."""
    shape = tf.shape(words)
    products = tf.matmul(regions, tf.reshape(words, [-1, shape[-1]]), transpose_b=True)
    return tf.reshape(products, [-1, shape[0], shape[1]])


def _problem(products: Tensor, region_mask: Tensor, word_mask: Tensor, options: dict[str, Any]) -> Problem:
    rows, columns = tf.cast(region_mask, tf.float32), tf.cast(word_mask, tf.float32)
    rows = tf.math.divide_no_nan(rows, tf.reduce_sum(rows))
    columns = tf.math.divide_no_nan(columns, tf.reduce_sum(columns, axis=0))
    rows = tf.repeat(rows[:, None], tf.shape(columns)[1], axis=1)
    return Problem(-products, rows, columns, options["beta"], options["iterations"])
