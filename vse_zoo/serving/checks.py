"""Checks of requests in the graph: what can't be encoded is an error with a reason, not numbers without meaning."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

__all__ = ["computed", "counted", "finite", "sentences"]

Tensor = Any


def counted(name: str, items: Tensor, counts: Tensor) -> tuple[Tensor, Tensor]:
    """(B, R, D) items and how many of each row are real, (B,), to the items, zero at padding, and their mask (B, R).

    An empty batch, counts that don't fit and real items that aren't finite are an error.
    """
    size, length = tf.shape(items)[0], tf.shape(items)[1]
    _require(size > 0, f"{name}: found an empty batch, expected at least one row.")
    _require(tf.equal(tf.size(counts), size), f"{name}: expected one count for each row.", tf.shape(counts))
    fits = tf.reduce_all((counts >= 1) & (counts <= length))
    _require(fits, f"{name}: expected counts between 1 and the number of items.", counts)
    mask = tf.sequence_mask(counts, length)
    # Whatever a client, or a server that joins requests, pads with has no effect.
    items = tf.where(mask[:, :, None], items, 0.0)
    _require_finite(name, items)
    return items, mask


def finite(name: str, rows: Tensor) -> Tensor:
    """The (B, D) rows; an empty batch, and a row that isn't finite, are an error."""
    _require(tf.shape(rows)[0] > 0, f"{name}: found an empty batch, expected at least one row.")
    _require_finite(name, rows)
    return rows


def sentences(text: Tensor) -> Tensor:
    """The (B,) sentences; an empty batch is an error."""
    _require(tf.size(text) > 0, "text: found an empty batch, expected at least one sentence.")
    return text


def computed(name: str, value: Tensor) -> Tensor:
    """An output of a request; numbers that became infinite or NaN on the way are an error."""
    if value.dtype.is_floating:
        finite = tf.reduce_all(tf.math.is_finite(value))
        _require(finite, f"{name}: found NaN or infinite numbers; are those of the request too large?")
    return value


def _require_finite(name: str, items: Tensor) -> None:
    _require(tf.reduce_all(tf.math.is_finite(items)), f"{name}: found NaN or infinite numbers.")


def _require(condition: Tensor, *message: Any) -> None:
    tf.debugging.Assert(condition, list(message))
