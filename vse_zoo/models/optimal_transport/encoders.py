"""The two encoders of the paper: an affine map of the regions, and a bidirectional GRU over the words."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from vse_zoo.layers import Standardization, l2_normalize
from vse_zoo.layers.bidirectional import bidirectional
from vse_zoo.layers.full_precision import full_precision
from vse_zoo.layers.masking import zero_masked

__all__ = ["RegionMap", "WordEncoder"]

Tensor = Any


@keras.saving.register_keras_serializable(package="vse_zoo")
class RegionMap(keras.layers.Layer):
    """``v_k = W f_k + b``, scaled to unit length; with context ``v_k = W f_k + U f̄ + b``, f̄ the mean real region.

    The regions are standardised first, which is the identity until `adapt` has seen training regions.

    Args:
        units: E.
        dropout: rate on the standardised regions.
        context: add the map of the mean region, so that a region knows its picture as a word its sentence. Off in the
            paper.

    Call arguments:
        regions: (B, R, D) float.
        mask: (B, R) bool, True on real regions.

    Returns:
        (B, R, E) float32, or float64 under a float64 policy; padding is zero.
    """

    def __init__(self, units: int, dropout: float = 0.0, context: bool = False, **kwargs: Any) -> None:
        # Regions rounded before they are standardised would lose what tells them apart.
        super().__init__(autocast=False, **kwargs)
        self.units = units
        self.dropout = dropout
        self.context = context
        policy = {"dtype": self.dtype_policy}
        self.standardization = Standardization(name="standardization", **policy)
        self.input_dropout = keras.layers.Dropout(dropout, name="input_dropout", **policy)
        self.projection = keras.layers.Dense(units, name="projection", **policy)
        if context:
            self.context_projection = keras.layers.Dense(units, use_bias=False, name="context_projection", **policy)
        self.supports_masking = True

    def build(self, input_shape: tuple[int | None, ...]) -> None:
        """Creates the standardisation and the map for (B, R, D) regions."""
        self.standardization.build(input_shape)
        self.projection.build(input_shape)
        if self.context:
            self.context_projection.build(input_shape)
        self.built = True

    def adapt(self, regions: Any, mask: Any) -> None:
        """Sets the standardisation to the mean and deviation of real regions: (N, R, D) float, (N, R) bool."""
        self.standardization.adapt(ops.convert_to_numpy(regions)[ops.convert_to_numpy(mask)])

    def call(self, regions: Tensor, mask: Tensor | None = None, training: bool = False) -> Tensor:
        """Maps a batch of images; shapes in the class's documentation."""
        items = self.input_dropout(self.standardization(regions), training=training)
        vectors = self.projection(items)
        if self.context:
            vectors += self.context_projection(_mean(items, mask))
        return zero_masked(l2_normalize(vectors), mask)

    def compute_output_shape(self, input_shape: tuple[int | None, ...]) -> tuple[int | None, ...]:
        """The shape (B, R, E) of the regions' vectors."""
        return (*input_shape[:-1], self.units)

    def compute_output_spec(self, regions: Tensor, mask: Tensor | None = None, training: bool = False) -> Any:
        """Shape and dtype of the regions' vectors."""
        dtype = full_precision(self.dtype_policy).compute_dtype
        return keras.KerasTensor(self.compute_output_shape(regions.shape), dtype=dtype)

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        return {**super().get_config(), "units": self.units, "dropout": self.dropout, "context": self.context}


def _mean(items: Tensor, mask: Tensor | None) -> Tensor:
    """(B, R, D) and (B, R) to the mean of the real items, (B, 1, D); zero where there is none."""
    if mask is None:
        return ops.mean(items, axis=1, keepdims=True)
    weights = ops.cast(ops.expand_dims(ops.cast(mask, "bool"), -1), items.dtype)
    total = ops.sum(items * weights, axis=1, keepdims=True)
    return total / ops.maximum(ops.sum(weights, axis=1, keepdims=True), 1.0)


@keras.saving.register_keras_serializable(package="vse_zoo")
class WordEncoder(keras.layers.Layer):
    """``e_m = (forward state + backward state) / 2`` of a GRU over word vectors, scaled to unit length.

    Args:
        vocabulary_size: number of word ids, 0 = padding included.
        word_dim: length of the word vectors.
        units: E, of each direction.
        dropout: rate on the word vectors.
        word_skip: add the word vectors to the states; ``word_dim`` must be E. Off in the paper.

    Call arguments:
        ids: (B, T) int32, 0 = padding.
        mask: (B, T) bool, False on further padding. By default it is the Keras mask that ``ids`` carry, if any.

    Returns:
        (B, T, E) float32, or float64 under a float64 policy; padding is zero. The states carry the Keras mask of the
        words.
    """

    def __init__(
        self,
        vocabulary_size: int,
        word_dim: int,
        units: int,
        dropout: float = 0.0,
        word_skip: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if word_skip and word_dim != units:
            raise ValueError(f"word_skip adds word vectors to states: word_dim must be {units}, got {word_dim}.")
        self.vocabulary_size = vocabulary_size
        self.word_dim = word_dim
        self.units = units
        self.dropout = dropout
        self.word_skip = word_skip
        policy = {"dtype": self.dtype_policy}
        self.words = keras.layers.Embedding(vocabulary_size, word_dim, name="words", **policy)
        self.input_dropout = keras.layers.Dropout(dropout, name="input_dropout", **policy)
        # cuDNN kernels can't be loaded on a CPU after export and break on fully masked rows.
        gru = keras.layers.GRU(units, return_sequences=True, use_cudnn=False, **policy)
        self.recurrence = bidirectional(gru, merge_mode="ave", name="recurrence", **policy)
        self.supports_masking = True

    def build(self, input_shape: tuple[int | None, ...]) -> None:
        """Creates the word vectors and the GRU for (B, T) ids."""
        self.words.build(input_shape)
        self.recurrence.build((*input_shape, self.word_dim))
        self.built = True

    def call(self, ids: Tensor, mask: Tensor | None = None, training: bool = False) -> Tensor:
        """Encodes a batch of sentences; shapes in the class's documentation."""
        ids = zero_masked(ids, mask)
        mask = ops.not_equal(ids, 0)
        vectors = self.input_dropout(self.words(ids), training=training)
        states = self.recurrence(vectors, mask=mask, training=training)
        return zero_masked(l2_normalize(states + vectors if self.word_skip else states), mask)

    def compute_mask(self, ids: Tensor, previous_mask: Tensor | None = None) -> Tensor:
        """(B, T), True on words."""
        return ops.not_equal(zero_masked(ids, previous_mask), 0)

    def compute_output_shape(self, input_shape: tuple[int | None, ...]) -> tuple[int | None, ...]:
        """The shape (B, T, E) of the words' states."""
        return (*input_shape, self.units)

    def compute_output_spec(self, ids: Tensor, mask: Tensor | None = None, training: bool = False) -> Any:
        """Shape and dtype of the words' states."""
        dtype = full_precision(self.dtype_policy).compute_dtype
        return keras.KerasTensor(self.compute_output_shape(ids.shape), dtype=dtype)

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        names = ("vocabulary_size", "word_dim", "units", "dropout", "word_skip")
        return {**super().get_config(), **{name: getattr(self, name) for name in names}}
