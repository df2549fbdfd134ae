"""The last layer of a pretrained contextual encoder (BERT and its kin) in the place of word vectors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import keras
from keras import ops

from vse_zoo.errors import DataError, located
from vse_zoo.layers.masking import zero_masked

__all__ = ["ContextualWords"]

Tensor = Any


@keras.saving.register_keras_serializable(package="vse_zoo")
class ContextualWords(keras.layers.Layer):
    """Word pieces to the states of the encoder's last layer, each sentence between [CLS] and [SEP] by itself.

    Frozen, the encoder is called as at inference, without dropout.

    Args:
        backbone: a keras_hub backbone over token_ids and padding_mask, such as ``BertBackbone``.
        start_id: the number of [CLS] in the encoder's list of pieces.
        end_id: that of [SEP].
        trainable: fine-tune the encoder.

    Call arguments:
        ids: (B, T) int32, 0 = padding, n + 1 for piece n (`PiecePreprocessor`).
        mask: (B, T) bool, False on further padding, which comes after the pieces. By default it is the Keras mask that
            ``ids`` carry, if any.

    Returns:
        (B, T, D), the states of the pieces alone; zero at padding. They carry the Keras mask of the pieces.
    """

    def __init__(self, backbone: Any, start_id: int, end_id: int, trainable: bool = False, **kwargs: Any) -> None:
        super().__init__(trainable=trainable, **kwargs)
        self.backbone = backbone
        self.start_id = start_id
        self.end_id = end_id
        # The layer's own setting doesn't reach weights that are there before it.
        backbone.trainable = trainable
        if trainable and hasattr(backbone, "pooled_dense"):
            backbone.pooled_dense.trainable = False  # BERT's head over [CLS], which isn't used
        self.supports_masking = True

    @classmethod
    def from_encoder(cls, encoder: str | Path, special_pieces: tuple[int, int], **kwargs: Any) -> ContextualWords:
        """Loads a pretrained encoder: a Hugging Face folder, a Keras folder, or a name that keras_hub knows.

        Args:
            encoder: the folder or name.
            special_pieces: the numbers of [CLS] and [SEP] (`PiecePreprocessor.special_pieces`).
            **kwargs: further arguments of the constructor.

        Raises:
            DataError: there is none, or it is no encoder of word pieces.
        """
        import keras_hub  # takes seconds, and only encoders need it

        try:
            backbone = keras_hub.models.Backbone.from_preset(str(encoder))
        except Exception as error:  # of downloads, archives and configurations, by no common base class
            reason = (str(error).strip() or type(error).__name__).splitlines()[0]
            raise DataError(located(encoder, f"found no encoder that keras_hub can load ({reason}).")) from error
        if not {"token_ids", "padding_mask"} <= _inputs(backbone) <= {"token_ids", "padding_mask", "segment_ids"}:
            problem = f"found a {type(backbone).__name__}, expected an encoder such as BertBackbone."
            raise DataError(located(encoder, problem))
        return cls(backbone, *special_pieces, **kwargs)

    @property
    def dim(self) -> int:
        """D, the length of a state."""
        return int(_states(self.backbone.output).shape[-1])

    @property
    def max_length(self) -> int | None:
        """The pieces that fit into the encoder beside [CLS] and [SEP]; None: any number."""
        length = getattr(self.backbone, "max_sequence_length", None)
        return length and length - 2

    def build(self, input_shape: tuple[int | None, ...]) -> None:
        """Nothing to create: the backbone has its weights."""
        self.built = True

    def call(self, ids: Tensor, mask: Tensor | None = None, training: bool = False) -> Tensor:
        """The states of a batch of sentences; shapes in the class's documentation."""
        ids = zero_masked(ids, mask)
        real = ops.not_equal(ids, 0)
        lengths = ops.sum(ops.cast(real, "int32"), axis=1, keepdims=True)
        # The end takes the place after the last piece: where padding begins, or the one added here.
        tokens = ops.pad(ops.where(real, ids - 1, 0), [[0, 0], [1, 1]])
        places = ops.expand_dims(ops.arange(ops.shape(tokens)[1]), 0)
        tokens = ops.where(places == 0, self.start_id, ops.where(places == lengths + 1, self.end_id, tokens))
        values = {
            "token_ids": tokens,
            "padding_mask": ops.cast(places <= lengths + 1, "int32"),
            "segment_ids": ops.zeros_like(tokens),
        }
        inputs = {name: values[name] for name in _inputs(self.backbone)}
        states = _states(self.backbone(inputs, training=bool(training and self.trainable)))[:, 1:-1]
        return ops.cast(states, self.compute_dtype) * ops.cast(ops.expand_dims(real, 2), self.compute_dtype)

    def compute_mask(self, ids: Tensor, previous_mask: Tensor | None = None) -> Tensor:
        """(B, T), True on pieces."""
        return ops.not_equal(zero_masked(ids, previous_mask), 0)

    def compute_output_shape(self, input_shape: tuple[int | None, ...]) -> tuple[int | None, ...]:
        """The shape (B, T, D) of the pieces' states."""
        return (*input_shape, self.dim)

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        backbone = keras.saving.serialize_keras_object(self.backbone)
        return {**super().get_config(), "backbone": backbone, "start_id": self.start_id, "end_id": self.end_id}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> ContextualWords:
        """The layer that `get_config` described, without its weights."""
        import keras_hub  # registers its backbones, too

        backbone = keras.saving.deserialize_keras_object(config["backbone"])
        if not isinstance(backbone, keras_hub.models.Backbone):
            raise ValueError(f"backbone: found {type(backbone).__name__}, expected a backbone of keras_hub.")
        return cls(**{**config, "backbone": backbone})


def _inputs(backbone: Any) -> set[str]:
    return set(backbone.input) if isinstance(backbone.input, dict) else set()


def _states(output: Any) -> Tensor:
    return output["sequence_output"] if isinstance(output, dict) else output
