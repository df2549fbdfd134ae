"""The two encoders of the paper: region perceptron and bidirectional LSTM, each under K-head context attention."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from vse_zoo.layers import ContextAttention, Standardization
from vse_zoo.layers.bidirectional import bidirectional
from vse_zoo.layers.full_precision import full_precision
from vse_zoo.layers.masking import zero_masked

__all__ = ["RegionEncoder", "SentenceEncoder"]

Tensor = Any


class _AttendedEncoder(keras.layers.Layer):
    """Items, then ContextAttention over them; subclasses say what the items are."""

    def __init__(self, units: int, heads: int, attention_dim: int, dropout: float, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.units = units
        self.heads = heads
        self.attention_dim = attention_dim
        self.dropout = dropout
        policy = {"dtype": self.dtype_policy}
        self.attention = ContextAttention(heads, attention_dim, name="attention", **policy)
        self.input_dropout = keras.layers.Dropout(dropout, name="input_dropout", **policy)
        self.item_dropout = keras.layers.Dropout(dropout, name="item_dropout", **policy)
        self.supports_masking = True

    def compute_output_shape(self, input_shape: tuple[int | None, ...]) -> tuple[int | None, ...]:
        """The shape (B, K, H) of the heads."""
        return (input_shape[0], self.heads, self.units)

    def _spec(self, inputs: Tensor, return_weights: bool) -> Any:
        items = keras.KerasTensor((*inputs.shape[:2], self.units), dtype=self.compute_dtype)
        return self.attention.compute_output_spec(items, return_weights=return_weights)

    def compute_mask(self, inputs: Tensor, previous_mask: Tensor | None = None) -> None:
        """The heads need no mask: every head exists."""
        return

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        names = ("units", "heads", "attention_dim", "dropout")
        return {**super().get_config(), **{name: getattr(self, name) for name in names}}


class _OwnStandardization(Standardization):
    """Its weights lie in weight files as those of the `RegionEncoder` that has it, where they have always been."""

    def save_own_variables(self, store: Any) -> None:
        pass

    def load_own_variables(self, store: Any) -> None:
        pass


@keras.saving.register_keras_serializable(package="vse_zoo")
class RegionEncoder(_AttendedEncoder):
    """Regions standardised, through a one-layer perceptron to H units, attended to by K heads.

    The standardisation is the identity until `adapt` has seen training regions. A power below 1 before it evens out
    features of few large numbers (power normalisation; Perronnin et al., ECCV 2010, section 3.2).

    Args:
        units: H.
        heads: K.
        attention_dim: size of the context vectors and of the attention space.
        dropout: rate on the regions and on the perceptron's outputs.
        activation: the perceptron's.
        power: p of ``sign(x)·|x|^p``, in (0, 1]; 1, as in the paper: regions as they are.

    Call arguments:
        regions: (B, R, D) float.
        mask: (B, R) bool, True on real regions.
        return_weights: also return the attention weights (B, K, R).

    Returns:
        (B, K, H).
    """

    def __init__(
        self,
        units: int,
        heads: int,
        attention_dim: int,
        dropout: float = 0.0,
        activation: str = "linear",
        power: float = 1.0,
        **kwargs: Any,
    ) -> None:
        # Regions rounded before they are standardised would lose what tells them apart.
        super().__init__(units, heads, attention_dim, dropout, autocast=False, **kwargs)
        if not 0 < power <= 1:
            raise ValueError(f"power: found {power}, expected a number above 0, up to 1.")
        self.activation = activation
        self.power = power
        self.perceptron = keras.layers.Dense(units, activation=activation, name="perceptron", dtype=self.dtype_policy)
        self.standardization = _OwnStandardization(name="standardization", dtype=self.dtype_policy)

    def build(self, input_shape: tuple[int | None, ...]) -> None:
        """Creates the standardisation, the perceptron and the attention for (B, R, D) regions."""
        self.standardization.build(input_shape)
        self.mean, self.scale = self.standardization.mean, self.standardization.scale
        self.perceptron.build(input_shape)
        self.attention.build((*input_shape[:-1], self.units))
        self.built = True

    def adapt(self, regions: Any, mask: Any) -> None:
        """Sets the standardisation to the mean and deviation of real regions: (N, R, D) float, (N, R) bool."""
        self.standardization.adapt(ops.convert_to_numpy(self._raised(regions))[ops.convert_to_numpy(mask)])

    def call(
        self, regions: Tensor, mask: Tensor | None = None, training: bool = False, return_weights: bool = False
    ) -> Tensor:
        """Encodes a batch of images; shapes in the class's documentation."""
        return self.attention(self.items(regions, training), mask=mask, return_weights=return_weights)

    def items(self, regions: Tensor, training: bool = False) -> Tensor:
        """What the heads attend to: (B, R, D) regions to (B, R, H)."""
        items = self.input_dropout(self.standardization(self._raised(regions)), training=training)
        return self.item_dropout(self.perceptron(items), training=training)

    def compute_output_spec(
        self, regions: Tensor, mask: Tensor | None = None, training: bool = False, return_weights: bool = False
    ) -> Any:
        """Shapes and dtypes of what `call` returns."""
        return self._spec(regions, return_weights)

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        return {**super().get_config(), "activation": self.activation, "power": self.power}

    def _raised(self, regions: Tensor) -> Tensor:
        items = ops.cast(regions, full_precision(self.dtype_policy).compute_dtype)
        return items if self.power == 1 else ops.sign(items) * ops.power(ops.abs(items), self.power)


@keras.saving.register_keras_serializable(package="vse_zoo")
class SentenceEncoder(_AttendedEncoder):
    """Word vectors through a bidirectional LSTM to H-dimensional states, attended to by K heads.

    Args:
        vocabulary_size: number of word ids, 0 = padding included; None: sentences come as vectors.
        word_dim: D, length of the word vectors.
        units: H, even; each direction has H/2 units.
        heads: K.
        attention_dim: size of the context vectors and of the attention space.
        dropout: rate on the word vectors and on the states.
        word_skip: add the word vectors to the states, which then start from the words themselves; ``word_dim`` must be
            H. Off in the paper.
        train_words: train the word vectors with the rest.

    Call arguments:
        ids: (B, T) int32, 0 = padding; or (B, T, D) float, the vectors themselves, all zeros = padding.
        mask: (B, T) bool, False on further padding. By default it is the Keras mask that ``ids`` carry, if any.
        return_weights: also return the attention weights (B, K, T).

    Returns:
        (B, K, H).
    """

    def __init__(
        self,
        vocabulary_size: int | None,
        word_dim: int,
        units: int,
        heads: int,
        attention_dim: int,
        dropout: float = 0.0,
        word_skip: bool = False,
        train_words: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(units, heads, attention_dim, dropout, **kwargs)
        if units % 2:
            raise ValueError(f"units must be even, for two directions of equal size; got {units}.")
        if word_skip and word_dim != units:
            raise ValueError(
                f"word_skip adds word vectors to states: word_dim must be units, got {word_dim} and {units}."
            )
        self.word_skip = word_skip
        self.vocabulary_size = vocabulary_size
        self.word_dim = word_dim
        self.train_words = train_words
        self.words: Any = None
        if vocabulary_size is not None:
            self.words = keras.layers.Embedding(
                vocabulary_size, word_dim, trainable=train_words, name="words", dtype=self.dtype_policy
            )
        # cuDNN kernels can't be loaded on a CPU after export and break on fully masked rows.
        lstm = keras.layers.LSTM(units // 2, return_sequences=True, use_cudnn=False, dtype=self.dtype_policy)
        self.recurrence = bidirectional(lstm, name="recurrence", dtype=self.dtype_policy)

    def build(self, input_shape: tuple[int | None, ...]) -> None:
        """Creates the word vectors, the LSTM and the attention for (B, T) ids or (B, T, D) vectors."""
        if self.words is not None:
            self.words.build(input_shape[:2])
        self.recurrence.build((*input_shape[:2], self.word_dim))
        self.attention.build((*input_shape[:2], self.units))
        self.built = True

    def call(
        self, ids: Tensor, mask: Tensor | None = None, training: bool = False, return_weights: bool = False
    ) -> Tensor:
        """Encodes a batch of sentences; shapes in the class's documentation."""
        states, mask = self.states(zero_masked(ids, mask), training)
        return self.attention(states, mask=mask, return_weights=return_weights)

    def states(self, ids: Tensor, training: bool = False) -> tuple[Tensor, Tensor]:
        """What the heads attend to: (B, T, H) states of the words, and the (B, T) mask, True on words."""
        mask = ops.not_equal(ids, 0)
        if len(ids.shape) == 3:
            vectors, mask = ids, ops.any(mask, axis=2)
        else:
            vectors = self.words(ids)
        vectors = self.input_dropout(vectors, training=training)
        states = self.recurrence(vectors, mask=mask, training=training)
        states = self.item_dropout(states, training=training)
        # The word vectors have had their dropout.
        return (states + vectors if self.word_skip else states), mask

    def compute_output_spec(
        self, ids: Tensor, mask: Tensor | None = None, training: bool = False, return_weights: bool = False
    ) -> Any:
        """Shapes and dtypes of what `call` returns."""
        return self._spec(ids, return_weights)

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        names = ("vocabulary_size", "word_dim", "word_skip", "train_words")
        return {**super().get_config(), **{name: getattr(self, name) for name in names}}
