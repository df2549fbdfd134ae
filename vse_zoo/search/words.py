"""Which language a query is in, and which of its words a model knows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from vse_zoo.errors import DataError

__all__ = ["Query", "understood"]

_UNKNOWN = "[UNK]"


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
    words = tuple(word.decode() for word in preprocessor.words([text]).to_list()[0])
    # A query without words is one unknown word; where it stands tells it from a real one.
    if set(words) == {_UNKNOWN} and not preprocessor.spans([text])[0].any():
        raise DataError(f"query: found {text!r}, which has no word. Describe what is in the photo.")
    languages = preprocessor.languages if language is None else (preprocessor.check_language(language),)
    unknown = {each: _unknown(words, preprocessor, each) for each in languages}
    chosen = min(languages, key=lambda each: len(unknown[each]))
    return Query(text, chosen, words, unknown[chosen])


def _unknown(words: tuple[str, ...], preprocessor: Any, language: str) -> tuple[str, ...]:
    """Looked up here, since TensorFlow's tables take milliseconds for so few."""
    vocabulary = preprocessor.vocabulary(language)
    return tuple(word for word in words if word == _UNKNOWN or word not in vocabulary)
