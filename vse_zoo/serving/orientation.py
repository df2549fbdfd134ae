"""The EXIF orientation of a JPEG file, in the graph: cameras store pictures as their sensor lay."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

__all__ = ["orientation", "upright"]

Tensor = Any
_HEADER = b"Exif\x00\x00"
_LENGTH = 65536
"""The EXIF segment stands at the beginning, and is no longer."""
_ORIENTATION = 0x0112
_ENTRIES = 64


def upright(pixels: Tensor, image: Tensor) -> Tensor:
    """Pixels (H, W, C) of a JPEG file turned as its orientation says."""
    found = orientation(image)

    def chosen(*which: int) -> Tensor:
        return tf.reduce_any(tf.equal(found, which))

    pixels = tf.cond(chosen(5, 6, 7, 8), lambda: tf.transpose(pixels, (1, 0, 2)), lambda: pixels)
    pixels = tf.cond(chosen(2, 3, 6, 7), lambda: tf.reverse(pixels, [1]), lambda: pixels)
    return tf.cond(chosen(3, 4, 7, 8), lambda: tf.reverse(pixels, [0]), lambda: pixels)


def orientation(image: Tensor) -> Tensor:
    """1 to 8 of a JPEG file, () int32; 1, upright, where it says none."""
    data = tf.cast(tf.io.decode_raw(tf.strings.substr(image, 0, _LENGTH), tf.uint8), tf.int32)
    # Zeros at the end, where offsets of a damaged file lead.
    data = tf.concat([data, tf.zeros([len(_HEADER)], tf.int32)], 0)
    ends = tf.size(data) - len(_HEADER) + 1
    matches = [tf.equal(data[place : ends + place], byte) for place, byte in enumerate(_HEADER)]
    matches = tf.reduce_all(tf.stack(matches), axis=0)
    start = tf.argmax(tf.cast(matches, tf.int32), output_type=tf.int32) + len(_HEADER)
    return tf.cond(tf.reduce_any(matches), lambda: _in_header(data, start), lambda: 1)


def _in_header(data: Tensor, start: Tensor) -> Tensor:
    """The orientation among the entries of the TIFF header that begins at ``start``."""
    little = tf.equal(data[tf.minimum(start, tf.size(data) - 1)], ord("I"))

    def number(offset: Tensor, width: int) -> Tensor:
        places = tf.range(width)
        powers = tf.where(little, places, width - 1 - places)
        inside = tf.clip_by_value(start + offset[..., None] + places, 0, tf.size(data) - 1)
        return tf.reduce_sum(tf.bitwise.left_shift(tf.gather(data, inside), 8 * powers), axis=-1)

    directory = number(tf.constant(4), 4)
    entries = directory + 2 + 12 * tf.range(tf.minimum(number(directory, 2), _ENTRIES))
    values = tf.boolean_mask(number(entries + 8, 2), tf.equal(number(entries, 2), _ORIENTATION))
    return tf.concat([values, [1]], 0)[0]
