"""The language of a query by its known words, with both kinds of preprocessors."""

from __future__ import annotations

from typing import Any

import pytest

from vse_zoo.errors import DataError
from vse_zoo.preprocessing import PiecePreprocessor, TextPreprocessor
from vse_zoo.search.words import as_written, understood

TEXT = TextPreprocessor({"en": ["a", "dog", "hand", "in"], "de": ["ein", "hund", "hand", "in", "straße"]})
PIECES = PiecePreprocessor(
    ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "dog", "##s", "hund"], ["en", "de"], lowercase=True
)


@pytest.mark.parametrize(
    ("text", "language", "unknown"),
    [
        ("a dog", "en", ()),
        ("EIN Hund!", "de", ()),
        ("hand in hand", "en", ()),
        ("die Straße", "de", ("die",)),
        ("the dog in a hat", "en", ("the", "hat")),
        ("zebra 🦓", "en", ("zebra", "🦓")),
    ],
)
def test_the_language_is_that_of_most_known_words(text: str, language: str, unknown: tuple[str, ...]) -> None:
    read = understood(text, TEXT)
    assert (read.language, read.unknown, read.known) == (language, unknown, len(unknown) < len(read.words))


def test_a_language_that_was_given_is_kept() -> None:
    read = understood("a dog", TEXT, "de")
    assert (read.language, read.words, read.unknown, read.known) == ("de", ("a", "dog"), ("a", "dog"), False)
    with pytest.raises(DataError, match="found 'fr', expected one of: en, de"):
        understood("a dog", TEXT, "fr")


def test_pieces_are_words_too() -> None:
    read = understood("dogs Hund zebra", PIECES)
    assert (read.language, read.words, read.unknown) == ("en", ("dog", "##s", "hund", "[UNK]"), ("[UNK]",))
    assert not understood("zebra", PIECES).known


@pytest.mark.parametrize("preprocessor", [TEXT, PIECES])
@pytest.mark.parametrize("text", ["", " \n"])
def test_a_query_without_words_is_an_error(preprocessor: Any, text: str) -> None:
    with pytest.raises(DataError, match="which has no word"):
        understood(text, preprocessor)


def test_the_vocabulary_and_the_tables_agree() -> None:
    for text in ("a dog in a hat", "ein Hund in der Hand", "[UNK] a", "Ａ ＤＯＧ"):
        for language in TEXT.languages:
            ids = TEXT.ragged([text], language).to_list()[0]
            read = understood(text, TEXT, language)
            assert [word for word, number in zip(read.words, ids, strict=True) if number == 1] == list(read.unknown)


@pytest.mark.parametrize("preprocessor", [TEXT, PIECES], ids=["words", "pieces"])
def test_the_first_query_is_read_like_the_next_ones(preprocessor: Any) -> None:
    queries = ["Dogs  in ½ a HAND!", "zebra 🦓 hund", "a" * 300, "ein\x00dog"]
    own = type(preprocessor).from_config(preprocessor.get_config())
    for query in queries:  # the first one is read as it is, the others by a compiled function
        words = tuple(word.decode() for word in preprocessor.words([query]).to_list()[0])
        assert understood(query, own).words == words
        written = as_written(query, own)
        assert len(written) == len(words)
        assert all(each in query for each in written)
    assert understood("a dog", own) is understood("a dog", own)
