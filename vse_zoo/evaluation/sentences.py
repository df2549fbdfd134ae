"""One vector a sentence, where a model has it: what comparing sentences with sentences needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from vse_zoo.errors import EvaluationError
from vse_zoo.evaluation.evaluate import Encoder, embed_captions
from vse_zoo.sets import ItemSets

__all__ = ["embed_sentences"]


def embed_sentences(model: Encoder, sentences: Sequence[str], language: str) -> NDArray[Any]:
    """(sentences, E) embeddings; equal sentences have equal ones.

    Raises:
        EvaluationError: the model doesn't know the language, takes no sentences, or encodes them to sets of vectors.
    """
    name = type(model).__name__
    if language not in model.languages:
        known = ", ".join(model.languages) or "none, since it was made for two matrices"
        raise EvaluationError(f"{name}, language: found {language!r}, the model knows {known}.")
    found = embed_captions(model, sentences, language)
    if isinstance(found, ItemSets):
        problem = "compares regions with words, so that a sentence has no single vector to compare with another's"
        raise EvaluationError(f"{name} {problem}. Use a model of embeddings, such as ContextAttentionVSE.")
    return found
