"""Where the words of a sentence stand: hand-made cases, and any text against the normalised form of the characters."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vse_zoo.preprocessing import TextPreprocessor

PREPROCESSOR = TextPreprocessor({"en": []}, max_length=6)


def cut(text: str) -> list[str]:
    """The characters of each word, as written."""
    return [text[start:end] for start, end in PREPROCESSOR.spans([text])[0].tolist()]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A dog, a DOG!", ["A", "dog", "a", "DOG"]),
        ("Die Straße, die GRÖẞE ist süß.", ["Die", "Straße", "die", "GRÖẞE", "ist", "süß"]),
        ("Ein Cafe\u0301 am Fluss", ["Ein", "Cafe\u0301", "am", "Fluss"]),
        ("e\u0301e\u0301 e\u0301", ["e\u0301e\u0301", "e\u0301"]),
        ("two🐶🐶dogs \u2764\ufe0f!", ["two", "🐶", "🐶", "dogs", "\u2764"]),
        ("ﬁﬁ ﬁne ２", ["ﬁﬁ", "ﬁne", "２"]),
        ("½ cup", ["½", "½", "cup"]),
        ("a㍿b", ["a㍿b"]),
        ("…ｶﾞ \u1100\u1161\u11a8", ["ｶﾞ", "\u1100\u1161\u11a8"]),
        ("İstanbul Ⱥb ΟΔΟΣ x", ["İstanbul", "Ⱥb", "ΟΔΟΣ", "x"]),
        ("a\x00b\x01c", ["a", "b", "c"]),
        ("one two three four five six seven", ["one", "two", "three", "four", "five", "six"]),
        ("", [""]),
        (" ?! ", [""]),
    ],
)
def test_spans_of_odd_sentences(text: str, expected: list[str]) -> None:
    assert cut(text) == expected


def test_spans_come_in_the_order_of_the_sentences() -> None:
    assert [spans.tolist() for spans in PREPROCESSOR.spans(["a dog", "", "Hündin"])] == [
        [[0, 1], [2, 5]],
        [[0, 0]],
        [[0, 6]],
    ]
    assert PREPROCESSOR.spans([]) == []


# No final sigma and no dotted I, whose lower case depends on the letters around it.
LETTERS = st.characters(codec="utf-8", categories=("L", "M", "N", "P", "S", "Z"), max_codepoint=0x2FFF)
TEXTS = st.text(LETTERS.filter(lambda letter: letter not in "Σİ"), max_size=30)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.lists(TEXTS, min_size=10, max_size=10))
def test_a_word_is_part_of_the_normal_form_of_its_characters(texts: list[str]) -> None:
    for text, words, spans in zip(texts, PREPROCESSOR.words(texts).to_list(), PREPROCESSOR.spans(texts), strict=True):
        assert len(words) == len(spans)
        assert (spans[1:, 0] >= spans[:-1, 0]).all()
        for word, (start, end) in zip(words, spans.tolist(), strict=True):
            if end > start:
                written = unicodedata.normalize("NFKC", text[start:end]).lower()
                assert unicodedata.normalize("NFKC", word.decode()) in unicodedata.normalize("NFKC", written)


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.lists(st.text(st.sampled_from("abäßÄÖẞ🐶,. "), min_size=1, max_size=20), min_size=10, max_size=10))
def test_words_of_plain_letters_are_exactly_their_characters(texts: list[str]) -> None:
    for text, words, spans in zip(texts, PREPROCESSOR.words(texts).to_list(), PREPROCESSOR.spans(texts), strict=True):
        found = [text[start:end].lower() for start, end in spans.tolist()]
        assert found == [word.decode().replace("[UNK]", "") for word in words]
        composed = unicodedata.normalize("NFD", text)
        for (start, end), (low, high) in zip(spans.tolist(), PREPROCESSOR.spans([composed])[0].tolist(), strict=True):
            assert unicodedata.normalize("NFC", composed[low:high]) == text[start:end]
