"""Encoded pictures to region features in the graph, equal to what Pillow and `vse-zoo features` make of them."""

from __future__ import annotations

from functools import partial
from typing import Any

import PIL
import tensorflow as tf

from vse_zoo.features import PictureEncoder
from vse_zoo.images import FINER
from vse_zoo.serving.orientation import upright

__all__ = ["PictureFeatures", "decode_picture", "square"]

Tensor = Any
_BITS = 22
"""Pillow's weights are multiples of 2⁻²²."""


class PictureFeatures:
    """(B,) JPEG or PNG files to regions (B, R, D) float32.

    Files are decoded, turned upright, laid over white and squeezed to a square as `vse_zoo.images` does it; the rest is
    the picture encoder's own graph. A file that can't be decoded is an error of the whole batch.

    Args:
        encoder: that of the model.
    """

    def __init__(self, encoder: PictureEncoder) -> None:
        self.encoder = encoder

    def __call__(self, images: Tensor) -> Tensor:
        """The regions; shapes in the class's documentation."""
        tf.debugging.Assert(tf.size(images) > 0, ["image: found an empty batch, expected at least one picture."])
        size = self.encoder.image_size
        pixels = tf.map_fn(
            lambda image: square(decode_picture(image, size), size),
            images,
            fn_output_signature=tf.TensorSpec((size, size, 3), tf.uint8),
        )
        return self.encoder(pixels)


def decode_picture(image: Tensor, side: int | None = None) -> Tensor:
    """A JPEG or PNG file to upright RGB pixels (H, W, 3) uint8, transparency over white.

    With ``side`` a large JPEG is decoded at 1/2, 1/4 or 1/8 of its size, as `vse_zoo.images.load_image` does it.
    """
    return tf.cond(tf.io.is_jpeg(image), lambda: _decode_jpeg(image, side), lambda: _decode_png(image))


def _decode_jpeg(image: Tensor, side: int | None) -> Tensor:
    # The slower transform is the one that Pillow uses.
    decode = partial(tf.io.decode_jpeg, image, channels=3, dct_method="INTEGER_ACCURATE")
    if side is None:
        return upright(decode(), image)
    smaller = tf.reduce_min(tf.io.extract_jpeg_shape(image)[:2]) // (FINER * side)
    # How often the picture can be halved: 0 to 3 times.
    halved = tf.reduce_sum(tf.cast(smaller >= [2, 4, 8], tf.int32))
    return upright(tf.switch_case(halved, [partial(decode, ratio=2**times) for times in range(4)]), image)


def _decode_png(image: Tensor) -> Tensor:
    pixels = tf.cast(tf.io.decode_png(image, channels=4), tf.int32)
    color, alpha = pixels[..., :3], pixels[..., 3:]
    # Pillow's alpha_composite over white: a division by 255 with rounding, by shifts.
    blended = (color * alpha + 255 * (255 - alpha) + 128) * 128
    return tf.cast((blended // 256 + blended) // 256 // 128, tf.uint8)


def square(pixels: Tensor, size: int) -> Tensor:
    """Pixels (H, W, 3) uint8 to (size, size, 3): Pillow's antialiased bicubic resize, to the bit."""
    first = _rows_first(tf.shape(pixels)[0], tf.shape(pixels)[1], size)
    pixels = tf.cond(first, lambda: pixels, lambda: tf.transpose(pixels, (1, 0, 2)))
    pixels = _resized(tf.transpose(_resized(pixels, size), (1, 0, 2)), size)
    return tf.reshape(tf.cond(first, lambda: tf.transpose(pixels, (1, 0, 2)), lambda: pixels), (size, size, 3))


def _rows_first(height: Tensor, width: Tensor, size: int) -> Tensor:
    """Which of the two passes the installed Pillow does first; each rounds, so that the order shows in the pixels.

    From version 13 it shrinks the height first where that is reduced much more than the width.
    """
    if int(PIL.__version__.split(".")[0]) < 13:
        return tf.constant(False)
    return (height > size) & (2 * (width - size) < height - size)


def _resized(pixels: Tensor, size: int) -> Tensor:
    """(n, …) uint8 to (size, …) uint8: weighted sums of rows in integers, one tap after another."""
    pixels = tf.cast(pixels, tf.int32)
    first, weights = _taps(tf.shape(pixels)[0], size)
    last = tf.shape(pixels)[0] - 1

    def add(tap: Tensor, total: Tensor) -> tuple[Tensor, Tensor]:
        rows = tf.gather(pixels, tf.minimum(first + tap, last))
        return tap + 1, total + rows * weights[:, tap][:, None, None]

    start = tf.fill(tf.concat([[size], tf.shape(pixels)[1:]], 0), 1 << (_BITS - 1))
    _, total = tf.while_loop(lambda tap, _: tap < tf.shape(weights)[1], add, (0, start), parallel_iterations=1)
    return tf.cast(tf.clip_by_value(total // (1 << _BITS), 0, 255), tf.uint8)


def _taps(length: Tensor, size: int) -> tuple[Tensor, Tensor]:
    """For each of ``size`` places the first row that it takes (size,), and the weights of that and the next (size, K).

    The cubic of Keys (1981) with a = −½, stretched by the scale where the picture shrinks.
    """
    extent = tf.cast(length, tf.float64)
    scale = extent / size
    stretch = tf.maximum(scale, 1.0)
    centers = (tf.range(size, dtype=tf.float64) + 0.5) * scale
    first = tf.floor(tf.maximum(centers - 2.0 * stretch + 0.5, 0.0))
    end = tf.floor(tf.minimum(centers + 2.0 * stretch + 0.5, extent))
    taps = tf.range(tf.cast(tf.math.ceil(2.0 * stretch), tf.int32) * 2 + 1)
    places = first[:, None] + tf.cast(taps, tf.float64)
    weights = _cubic((places - centers[:, None] + 0.5) / stretch)
    weights = tf.where(places < end[:, None], weights, 0.0)
    weights = weights / tf.reduce_sum(weights, axis=1, keepdims=True) * (1 << _BITS)
    # Halves away from zero, as C rounds.
    rounded = tf.sign(weights) * tf.floor(tf.abs(weights) + 0.5)
    return tf.cast(first, tf.int32), tf.cast(rounded, tf.int32)


def _cubic(x: Tensor) -> Tensor:
    x = tf.abs(x)
    inner = (1.5 * x - 2.5) * x * x + 1.0
    outer = ((-0.5 * x + 2.5) * x - 4.0) * x + 2.0
    return tf.where(x < 1.0, inner, tf.where(x < 2.0, outer, 0.0))
