"""Scores and plans of sets of regions and words, without functions compiled by XLA.

TensorFlow Serving runs these only behind an experimental flag (--xla_cpu_compilation_enabled).
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from vse_zoo.ops import transport_plan
from vse_zoo.ops.pair_blocks import Options, scores_of_block

__all__ = ["plans", "set_similarity"]

Tensor = Any


def set_similarity(alignment: Any, regions: Tensor, region_mask: Tensor, words: Tensor, word_mask: Tensor) -> Tensor:
    """What an `AlignmentSimilarity` gives with ``feasible=True``: all pairs of N and M sets, (N, M).

    Args:
        alignment: the `AlignmentSimilarity`.
        regions: (N, R, E) unit vectors.
        region_mask: (N, R) bool.
        words: (M, T, E) unit vectors.
        word_mask: (M, T) bool.
    """
    by_word = alignment.aggregation == "text_image"
    transport = alignment.transport_weight != 0
    options = Options(by_word, transport, alignment.beta, alignment.iterations, True)
    sentences = tf.transpose(words, (1, 0, 2)), tf.transpose(word_mask)
    # A picture at a time, so that memory grows with the sentences alone.
    best, transported = tf.map_fn(
        lambda picture: scores_of_block(picture[0], picture[1], *sentences, options=options),
        (regions[:, None], region_mask[:, None]),
        fn_output_signature=(tf.float32, tf.float32),
    )
    best, transported = best[:, 0], transported[:, 0]
    if alignment.reduction == "mean":
        counts = tf.reduce_sum(tf.cast(word_mask if by_word else region_mask, tf.float32), axis=1)
        best = best / (counts[None, :] if by_word else counts[:, None])
    return best + alignment.transport_weight * transported


def plans(
    alignment: Any, regions: Tensor, region_mask: Tensor, words: Tensor, word_mask: Tensor
) -> tuple[Tensor, Tensor]:
    """Plans with exact marginals and cosines of the pairs of sets in the same row, (N, R, T) both."""
    same = tf.equal(tf.shape(regions)[0], tf.shape(words)[0])
    tf.debugging.Assert(same, ["image and text: expected pairs, so as many of one as of the other."])
    cosines = tf.matmul(regions, words, transpose_b=True)
    solver = {"beta": alignment.beta, "iterations": alignment.iterations, "feasible": True}
    # Of the two ways to solve, the differentiable one is not compiled by XLA.
    found = transport_plan(1.0 - cosines, region_mask, word_mask, differentiate=True, **solver)
    return found.plan, cosines
