"""Scores of every set of one batch with every set of another: the best matches' cosines, and optimal transport."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import tensorflow as tf

from vse_zoo.ops.blocks import MULTIPLE, SENTENCES, joined, narrow, padded, pictures_of, sentences_of
from vse_zoo.ops.pair_blocks import Options, gradients_of_block, gradients_of_pairs, scores_of_block
from vse_zoo.ops.transport import check_solver, compiled

__all__ = ["SetScores", "set_scores"]

Tensor = Any

_FEW = 2
"""Up to 2 · (N + M) pairs with a gradient are few."""


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
    options = Options(by_word, transport, beta, iterations, feasible)
    regions, words = tf.cast(regions, tf.float32), tf.cast(words, tf.float32)
    masks = [tf.cast(mask, tf.bool) for mask in (region_mask, word_mask)]
    return SetScores(*_graph(options)(regions, masks[0], words, masks[1]))


@functools.lru_cache(maxsize=64)
def _graph(options: Options) -> Any:
    """The loops over blocks as one graph, so that they run alike from anywhere."""
    return tf.function(functools.partial(_all_pairs, options), reduce_retracing=True, autograph=False)


def _all_pairs(options: Options, regions: Tensor, region_mask: Tensor, words: Tensor, word_mask: Tensor) -> Any:
    @tf.custom_gradient
    def scores(regions: Tensor, words: Tensor) -> Any:
        sides = (regions, region_mask, padded(words, 1, MULTIPLE), padded(word_mask, 1, MULTIPLE))

        def gradient(*slopes: Tensor) -> tuple[Tensor, Tensor]:
            active = tf.where(tf.logical_or(slopes[0] != 0, slopes[1] != 0))
            found = tf.cond(
                tf.shape(active)[0] <= _FEW * (tf.shape(regions)[0] + tf.shape(words)[0]),
                lambda: _gradients_of_pairs(options, *sides, slopes, active),
                lambda: _gradients_of_blocks(options, *sides, slopes),
            )
            return found[0], found[1][:, : tf.shape(words)[1]]

        return _scores_of_blocks(options, *sides), gradient

    return scores(regions, words)


def _scores_of_blocks(
    options: Options, regions: Tensor, region_mask: Tensor, words: Tensor, word_mask: Tensor
) -> tuple[Tensor, Tensor]:
    score = compiled(functools.partial(scores_of_block, options=options))
    pictures = pictures_of(regions, region_mask)
    order, *sentences = sentences_of(words, word_mask)
    pair = (tf.float32, tf.float32)

    def column(block: tuple[Tensor, ...]) -> Any:
        block = narrow(*block)
        return tf.map_fn(lambda p: score(*p, *block), pictures, fn_output_signature=pair, parallel_iterations=4)

    grids = tf.map_fn(column, tuple(sentences), fn_output_signature=pair, parallel_iterations=2)
    places = tf.argsort(order)[: tf.shape(words)[0]]
    return tuple(tf.gather(joined(grid)[: tf.shape(regions)[0]], places, axis=1) for grid in grids)


def _gradients_of_blocks(
    options: Options, regions: Tensor, region_mask: Tensor, words: Tensor, word_mask: Tensor, slopes: Any
) -> tuple[Tensor, Tensor]:
    """Gradients where most pairs have one: block by block."""
    gradient = compiled(functools.partial(gradients_of_block, options=options))
    pictures = pictures_of(regions, region_mask)
    order, *sentences = sentences_of(words, word_mask)
    places = tf.reshape(order, [-1, SENTENCES])
    pair = (tf.float32, tf.float32)

    def add(total: tuple[Tensor, Tensor], block: tuple[Tensor, ...]) -> tuple[Tensor, Tensor]:
        place, vectors, exist = block[0], *narrow(*block[1:])
        own = tuple(pictures_of(tf.gather(padded(slope, 1, SENTENCES), place, axis=1))[0] for slope in slopes)
        into_regions, into_words = tf.map_fn(
            lambda p: gradient(*p, vectors, exist), (*pictures, own), fn_output_signature=pair, parallel_iterations=4
        )
        into_words = tf.transpose(tf.reduce_sum(into_words, axis=0), (1, 0, 2))
        into_words = tf.pad(into_words, [[0, 0], [0, tf.shape(words)[1] - tf.shape(into_words)[1]], [0, 0]])
        return total[0] + into_regions, tf.tensor_scatter_nd_add(total[1], place[:, None], into_words)

    first = (tf.zeros_like(pictures[0]), tf.zeros_like(padded(words, 0, SENTENCES)))
    into_regions, into_words = tf.foldl(add, (places, *sentences), first, parallel_iterations=1)
    shape = tf.concat([[-1], tf.shape(regions)[1:]], 0)
    return tf.reshape(into_regions, shape)[: tf.shape(regions)[0]], into_words[: tf.shape(words)[0]]


def _gradients_of_pairs(
    options: Options,
    regions: Tensor,
    region_mask: Tensor,
    words: Tensor,
    word_mask: Tensor,
    slopes: Any,
    active: Tensor,
) -> tuple[Tensor, Tensor]:
    """Gradients where few pairs have one, as with hardest negatives: of these pairs alone."""
    gradient = compiled(functools.partial(gradients_of_pairs, options=options))
    more = SENTENCES - tf.shape(active)[0] % SENTENCES
    own = tuple(tf.reshape(tf.pad(tf.gather_nd(slope, active), [[0, more]]), [-1, SENTENCES]) for slope in slopes)
    active = tf.pad(active, [[0, more], [0, 0]])
    pictures, sentences = (tf.reshape(active[:, side], [-1, SENTENCES]) for side in (0, 1))

    def block(pairs: Any) -> Any:
        i, j, slope = pairs
        sets = [tf.gather(side, k) for side, k in ((regions, i), (region_mask, i), (words, j), (word_mask, j))]
        return gradient(*sets, slope)

    signature = (tf.float32, tf.float32)
    found = tf.map_fn(block, (pictures, sentences, own), fn_output_signature=signature, parallel_iterations=4)
    return tuple(
        tf.math.unsorted_segment_sum(tf.reshape(part, tf.concat([[-1], tf.shape(side)[1:]], 0)), ids, tf.shape(side)[0])
        for part, side, ids in zip(found, (regions, words), tf.unstack(active, axis=1), strict=True)
    )
