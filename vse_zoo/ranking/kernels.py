"""Limits and costs of many pairs at once, compiled by XLA for fixed shapes."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import tensorflow as tf

from vse_zoo.ops import transport_plan
from vse_zoo.ops.bounds import dual_value

__all__ = ["Form", "Pairs", "all_limits", "pair_costs", "transport_cost"]

Tensor = Any

_FAR = 1e30


class Form(NamedTuple):
    """S = S_cos − λ⟨T, C⟩.

    Args:
        direction: "text_image", every word's best region, or "image_text", every region's best word.
        reduction: "sum" or "mean" over the words (the regions).
        weight: λ ≥ 0.
    """

    direction: str
    reduction: str
    weight: float


class Pairs(NamedTuple):
    """P pairs: costs 1 − cosine (P, K, M), masks (P, K) and (P, M), S_cos (P,) and upper limits of S (P,)."""

    cost: Tensor
    row_mask: Tensor
    column_mask: Tensor
    cosine: Tensor
    limit: Tensor


@lru_cache(maxsize=32)
def all_limits(form: Form, rounds: int) -> Any:
    """A function of blocks of images (b, B, K, E), their masks, texts (C, M, E), their masks, and the slack of a cosine
    and of a cost: upper limits (b·B, C), a block at a time.
    """

    @tf.function(jit_compile=True)
    def block(regions: Tensor, region_mask: Tensor, words: Tensor, word_mask: Tensor, slack: Tensor) -> Tensor:
        size = tf.shape(regions)[-1]
        cosine = tf.matmul(tf.reshape(regions, (-1, size)), tf.reshape(words, (-1, size)), transpose_b=True)
        cosine = tf.reshape(cosine, tf.concat([tf.shape(region_mask), tf.shape(word_mask)], 0))
        return _limits(cosine, region_mask[:, :, None, None], word_mask[None, None], form, rounds, slack)[1]

    @tf.function(reduce_retracing=True)
    def function(regions: Tensor, region_mask: Tensor, words: Tensor, word_mask: Tensor, slack: Tensor) -> Tensor:
        # Texts stand last, so that maxima over words and over regions both run along whole vectors.
        words, word_mask = tf.transpose(words, (1, 0, 2)), tf.transpose(word_mask)
        found = tf.map_fn(
            lambda each: block(each[0], each[1], words, word_mask, slack),
            (regions, region_mask),
            fn_output_signature=tf.float32,
            parallel_iterations=2,
        )
        return tf.reshape(found, (-1, tf.shape(found)[2]))

    return function


@lru_cache(maxsize=32)
def pair_costs(form: Form, rounds: int) -> Any:
    """A function of images transposed (N, E, K), their mask, the items of all texts (total, E), a bucket's rows (C, M)
    of these, their mask, groups of an image (g,) with several texts (g, G), and the slack: their `Pairs`, P = g·G.
    """

    @tf.function(jit_compile=True)
    def block(regions: Tensor, region_mask: Tensor, words: Tensor, word_mask: Tensor, slack: Tensor) -> Pairs:
        shape = tf.shape(words)
        groups, each, m = shape[0], shape[1], shape[2]
        cosine = tf.matmul(tf.reshape(words, (groups, each * m, shape[3])), regions)
        cosine = tf.reshape(cosine, (groups * each, m, -1))
        rows, columns = tf.repeat(region_mask, each, axis=0), tf.reshape(word_mask, (-1, m))
        last = tf.transpose(rows)[:, None], tf.transpose(columns)[None]
        score, limit = _limits(tf.transpose(cosine, (2, 1, 0)), *last, form, rounds, slack)
        return Pairs(1.0 - tf.transpose(cosine, (0, 2, 1)), rows, columns, score, limit)

    @tf.function(reduce_retracing=True)
    def function(
        images: Tensor,
        image_mask: Tensor,
        items: Tensor,
        rows: Tensor,
        text_mask: Tensor,
        image: Tensor,
        text: Tensor,
        slack: Tensor,
    ) -> Pairs:
        # Gathered outside of the block, whose shapes then don't depend on how many images and texts there are.
        pictures = tf.gather(images, image), tf.gather(image_mask, image)
        return block(*pictures, tf.gather(items, tf.gather(rows, text)), tf.gather(text_mask, text), slack)

    return function


def _limits(
    cosine: Tensor, row_mask: Tensor, column_mask: Tensor, form: Form, rounds: int, slack: Tensor
) -> tuple[Tensor, Tensor]:
    """S_cos and the limits (…, P) of cosines (…, n, m, P) with masks (…, n, 1, P) and (…, 1, m, P)."""
    cost = tf.where(tf.logical_and(row_mask, column_mask), 1.0 - cosine, _FAR)
    rows, columns = tf.cast(row_mask, tf.float32), tf.cast(column_mask, tf.float32)
    axis, terms = (-3, columns) if form.direction == "text_image" else (-2, rows)
    best = tf.where(terms > 0, 1.0 - tf.reduce_min(cost, axis, keepdims=True), 0.0)
    count = tf.reduce_sum(terms, (-3, -2))
    factor = tf.ones_like(count) if form.reduction == "sum" else 1.0 / count
    score = tf.reduce_sum(best, (-3, -2)) * factor
    upper = score + slack[0] * count * factor
    if form.weight:
        upper = upper - form.weight * (dual_value(cost, rows, columns, rounds) - slack[1])
    return score, upper


@tf.function(reduce_retracing=True)
def transport_cost(cost: Tensor, row_mask: Tensor, column_mask: Tensor, beta: float, iterations: int) -> Tensor:
    """⟨T, C⟩ (P,) of feasible IPOT plans."""
    found = transport_plan(cost, row_mask, column_mask, beta=beta, iterations=iterations, feasible=True)
    return tf.reduce_sum(found.plan * cost, (1, 2))
