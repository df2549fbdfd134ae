"""Which language a query is in, and which of its words a model knows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from weakref import WeakSet

import tensorflow as tf

from vse_zoo.errors import DataError

__all__ = ["Query", "as_written", "understood"]

_UNKNOWN = "[UNK]"
_KEPT = 1024
"""Queries that needn't be read again, most of them asked for more photos or for an explanation."""
_PREPROCESSORS = 8
_met: WeakSet[Any] = WeakSet()
"""Preprocessors that have read a query."""


@dataclass(frozen=True)
class Query:
    """A sentence as a model reads it.

    Args:
        text: as it was written.
        language: as it was given or found.
        words: all of them, normalised; word pieces of a model that has those.
        unknown: those that the model doesn't know.
    """

    text: str
    language: str
    words: tuple[str, ...]
    unknown: tuple[str, ...]

    @property
    def known(self) -> bool:
        """Whether the model knows any word of it."""
        return len(self.unknown) < len(self.words)


@lru_cache(_KEPT)
def understood(text: str, preprocessor: Any, language: str | None = None) -> Query:
    """Reads a query. Without ``language`` it is in the one that knows the largest share of its words; of several, the
    first that the preprocessor names.

    Raises:
        DataError: the language isn't one of the preprocessor's, or the query has no words.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        raise DataError(f"query: found {text!r}, which isn't valid Unicode.") from None
    words = _words(text, preprocessor)
    # A query without words is one unknown word; where it stands tells it from a real one.
    if set(words) == {_UNKNOWN} and not preprocessor.spans([text])[0].any():
        raise DataError(f"query: found {text!r}, which has no word. Describe what is in the photo.")
    languages = preprocessor.languages if language is None else (preprocessor.check_language(language),)
    unknown = {each: _unknown(words, preprocessor, each) for each in languages}
    chosen = min(languages, key=lambda each: len(unknown[each]))
    return Query(text, chosen, words, unknown[chosen])


@lru_cache(_KEPT)
def as_written(text: str, preprocessor: Any) -> tuple[str, ...]:
    """The words of a query as they stand in it; one that stands nowhere is empty."""
    return tuple(text[start:end] for start, end in preprocessor.spans([text])[0])


def _words(text: str, preprocessor: Any) -> tuple[str, ...]:
    # Compiled, it takes a twentieth of the time; but compiling takes as long as thirty queries.
    split = _compiled(preprocessor) if preprocessor in _met else preprocessor.words
    _met.add(preprocessor)
    return tuple(word.decode() for word in split(tf.constant([text])).flat_values.numpy().tolist())


@lru_cache(_PREPROCESSORS)
def _compiled(preprocessor: Any) -> Any:
    return tf.function(preprocessor.words, input_signature=[tf.TensorSpec([None], tf.string)])


@lru_cache(_PREPROCESSORS)
def _known(preprocessor: Any, language: str) -> frozenset[str]:
    return frozenset(preprocessor.vocabulary(language)) - {_UNKNOWN}


def _unknown(words: tuple[str, ...], preprocessor: Any, language: str) -> tuple[str, ...]:
    """Looked up here, since TensorFlow's tables take milliseconds for so few."""
    known = _known(preprocessor, language)
    return tuple(word for word in words if word not in known)
