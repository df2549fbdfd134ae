"""A trained model learns one more language; what it knows stays as it is."""

from __future__ import annotations

from collections.abc import Sequence

import keras

from vse_zoo.models.context_attention.model import ContextAttentionVSE
from vse_zoo.preprocessing import PiecePreprocessor, TextPreprocessor

__all__ = ["extend_language"]


def extend_language(
    model: ContextAttentionVSE, language: str, captions: Sequence[str], minimum_count: int = 4
) -> ContextAttentionVSE:
    """A model with one more language, whose text encoder alone is trainable; all else has the weights of ``model``.

    Trained on (a batch still holds all languages), it embeds images and the old languages as before, to the bit. Which
    weights are frozen isn't saved with it.

    Args:
        model: a built model.
        language: a new one.
        captions: its training captions, for the vocabulary; a model with a contextual encoder has its pieces already.
        minimum_count: rarer words are unknown.

    Raises:
        ValueError: the model knows the language.
    """
    if language in model.languages:
        raise ValueError(f"language: found {language!r}, which the model knows; expected a new one.")
    config = model.get_config()
    config["preprocessor"] = keras.saving.serialize_keras_object(
        _extended(model.preprocessor, language, captions, minimum_count)
    )
    extended = ContextAttentionVSE.from_config(config)
    extended.build()
    for kept, source in zip(_parts(extended, model.languages), _parts(model, model.languages), strict=True):
        kept.set_weights(source.get_weights())
        kept.trainable = False
    return extended


def _extended(
    preprocessor: TextPreprocessor | PiecePreprocessor, language: str, captions: Sequence[str], minimum_count: int
) -> TextPreprocessor | PiecePreprocessor:
    if isinstance(preprocessor, PiecePreprocessor):
        config = preprocessor.get_config()
        return PiecePreprocessor.from_config({**config, "languages": [*config["languages"], language]})
    words = {name: preprocessor.vocabulary(name)[2:] for name in preprocessor.languages}
    new = TextPreprocessor.from_captions({language: captions}, minimum_count, preprocessor.max_length)
    return TextPreprocessor({**words, language: new.vocabulary(language)[2:]}, preprocessor.max_length)


def _parts(model: ContextAttentionVSE, languages: Sequence[str]) -> list[keras.layers.Layer]:
    """All of a model but the text encoders of other languages."""
    shared = [model.image_encoder, model.contextual, model.ranking_loss, model.diversity_loss]
    return [part for part in shared if part is not None] + [model.text_encoders[name] for name in languages]
