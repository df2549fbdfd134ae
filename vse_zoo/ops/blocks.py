"""Batches of sets cut into blocks: pictures in their order, sentences sorted by length."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

__all__ = [
    "MULTIPLE",
    "PICTURES",
    "SENTENCES",
    "in_blocks",
    "joined",
    "narrow",
    "padded",
    "pictures_of",
    "sentences_of",
]

Tensor = Any

SENTENCES = 32
"""Sentences in a block, sorted by length: the plans of one picture with 32 of them stay in a core's cache."""
PICTURES = 8
"""Pictures in a block, enough for an efficient product of matrices."""
MULTIPLE = 4
"""Words are padded to a multiple of it, so that few shapes are compiled."""


def pictures_of(*sides: Tensor) -> tuple[Tensor, ...]:
    """(N, …) to blocks of pictures (B, 8, …), or to a single one of fewer."""
    size = tf.clip_by_value(tf.shape(sides[0])[0], 1, PICTURES)
    return tuple(in_blocks(padded(side, 0, size), size) for side in sides)


def sentences_of(words: Tensor, word_mask: Tensor) -> tuple[Tensor, ...]:
    """The order of the sentences by length, and their blocks in it: words (B, 32, T, E), mask (B, 32, T), widths (B,).

    Each block needs as many words as its longest sentence has. The last indices of the order are padding.
    """
    words, word_mask = padded(words, 0, SENTENCES), padded(word_mask, 0, SENTENCES)
    lengths = tf.reduce_max(tf.where(word_mask, tf.range(1, tf.shape(word_mask)[1] + 1), 0), axis=1)
    order = tf.argsort(lengths)
    lengths = in_blocks(tf.gather(lengths, order), SENTENCES)
    widths = -(-tf.maximum(tf.reduce_max(lengths, axis=1), 1) // MULTIPLE) * MULTIPLE
    return order, *(in_blocks(tf.gather(side, order), SENTENCES) for side in (words, word_mask)), widths


def narrow(words: Tensor, word_mask: Tensor, width: Tensor) -> tuple[Tensor, Tensor]:
    """Words (T, S, E) and mask (T, S): the sentences then lie along the last axis of the inner products."""
    return tf.transpose(words[:, :width], (1, 0, 2)), tf.transpose(word_mask[:, :width])


def padded(side: Tensor, axis: int, multiple: int | Tensor) -> Tensor:
    """With zeros at the end of an axis, so that its length is a multiple."""
    more = [[0, 0] for _ in side.shape]
    more[axis] = [0, -tf.shape(side)[axis] % multiple]
    return tf.pad(side, more)


def in_blocks(side: Tensor, size: int | Tensor) -> Tensor:
    """(B · size, …) to (B, size, …)."""
    return tf.reshape(side, tf.concat([[-1, size], tf.shape(side)[1:]], 0))


def joined(grid: Tensor) -> Tensor:
    """Sentences' blocks × pictures' blocks × 8 × 32 to pictures × sentences."""
    shape = tf.shape(grid)
    return tf.reshape(tf.transpose(grid, (1, 2, 0, 3)), [shape[1] * shape[2], shape[0] * shape[3]])
