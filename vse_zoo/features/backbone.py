"""A frozen network that turns square pictures into a grid of region features."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cached_property

import keras
import numpy as np
import tensorflow as tf

from vse_zoo.errors import ConfigError, PresetError
from vse_zoo.features.grids import grid_boxes, pooling_matrix

__all__ = ["Backbone", "first_line"]

_GRID = (7, 7)
_NEEDED = "a feature map (B, H, W, D) or a vector (B, D) is needed"
_DO = "Choose a network of pictures, or compute the features elsewhere and pass them with --precomputed."


def first_line(error: Exception) -> str:
    """What an error says, short enough for a message."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")


class Backbone:
    """A feature-map network, its own input scaling, and average pooling to ``grid`` regions.

    ``network`` maps what ``prepare`` returns to one feature map (B, H, W, D), or to one vector (B, D) that is the only
    region; ``prepare`` maps float pixels (B, S, S, 3) in 0…255 to what the network was trained on. The grid is 7×7 by
    default, 1×1 of a vector; one finer than the feature map is a `ConfigError`. A network that takes anything else than
    pictures, or gives anything else than one map or vector, is a `PresetError`.
    """

    def __init__(
        self,
        name: str,
        network: keras.Model,
        prepare: Callable[[tf.Tensor], tf.Tensor],
        *,
        image_size: int,
        grid: tuple[int, int] | None = None,
    ) -> None:
        self.name = name
        self.image_size = image_size
        self._network = network
        self._prepare = prepare
        height, width, self.dim = self._map_shape()
        self.grid = grid = grid or (_GRID if self._is_map else (1, 1))
        if not (1 <= grid[0] <= height and 1 <= grid[1] <= width):
            found = (
                f"a grid of {grid[0]}×{grid[1]}, but the feature map of a {image_size}-pixel square is {height}×{width}"
            )
            raise ConfigError(f"{name}: {found}. Choose a grid between 1×1 and {height}×{width}.")
        self.boxes = grid_boxes((height, width), grid)
        self._pool = pooling_matrix(height, grid[0]), pooling_matrix(width, grid[1])
        signature = [tf.TensorSpec((None, image_size, image_size, 3), tf.uint8)]
        self._compiled = tf.function(self.__call__, input_signature=signature)

    def regions(self, images: np.ndarray) -> np.ndarray:
        """Pixels (B, S, S, 3) uint8 → region features (B, h·w, D) float32, row by row from the top left."""
        return self._compiled(images).numpy()

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 over every weight: two backbones with the same one give the same features."""
        digest = hashlib.sha256()
        for weight in self._network.get_weights():
            digest.update(np.ascontiguousarray(weight).data)
        return digest.hexdigest()

    def _map_shape(self) -> tuple[int, int, int]:
        shape = keras.ops.shape(self._first_output())
        if len(shape) not in (2, 4):
            raise PresetError(f"{self.name}: its output has shape {tuple(shape)}; {_NEEDED}. {_DO}")
        self._is_map = len(shape) == 4
        height, width = (int(length) for length in shape[1:3]) if self._is_map else (1, 1)
        return height, width, int(shape[-1])

    def _first_output(self) -> tf.Tensor:
        """What the network gives for a black picture."""
        inputs = [each.name for each in getattr(self._network, "inputs", None) or ()]
        if len(inputs) > 1:
            problem = f"it takes {' and '.join(inputs)}, as a model of two towers does, and not pictures alone"
            raise PresetError(f"{self.name}: {problem}; {_NEEDED}. {_DO}")
        try:
            found = self._output(tf.zeros((1, self.image_size, self.image_size, 3)))
        except Exception as error:  # networks refuse inputs in many ways, by no common base class
            size = f"{self.image_size}×{self.image_size}"
            problem = f"its network refuses pictures of {size} pixels ({first_line(error)})"
            raise PresetError(f"{self.name}: {problem}; {_NEEDED}. {_DO}") from error
        if not keras.ops.is_tensor(found):
            several = f" of {', '.join(map(str, found))}" if isinstance(found, dict) else ""
            raise PresetError(f"{self.name}: its output is a {type(found).__name__}{several}; {_NEEDED}. {_DO}")
        return found

    def _output(self, pixels: tf.Tensor) -> tf.Tensor:
        return self._network(self._prepare(pixels), training=False)

    def __call__(self, images: tf.Tensor) -> tf.Tensor:
        """`regions` as tensors, to be part of another graph: (B, S, S, 3) uint8 → (B, h·w, D) float32."""
        features = tf.cast(self._output(tf.cast(images, tf.float32)), tf.float32)
        if self._is_map and features.shape[1:3] != self.grid:
            rows, columns = self._pool
            features = tf.einsum("bhwd,ih,jw->bijd", features, rows, columns)
        return tf.reshape(features, (-1, self.grid[0] * self.grid[1], self.dim))
