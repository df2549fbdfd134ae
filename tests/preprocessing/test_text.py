"""TextPreprocessor against plain Python (unicodedata and re), on odd input, saved, in a graph and in a SavedModel."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from vse_zoo.errors import DataError, PresetError
from vse_zoo.preprocessing import TextPreprocessor

UNKNOWN = "[UNK]"


def plain_words(text: str, max_length: int = 100) -> list[str]:
    """NFKC, lower case, then runs of letters, marks and digits, and symbols one by one."""
    text = unicodedata.normalize("NFKC", text).lower()
    kinds = "".join(_kind(character) for character in text)
    words = [text[match.start() : match.end()] for match in re.finditer("w+|s", kinds)]
    return words[:max_length] or [UNKNOWN]


def _kind(character: str) -> str:
    if "\ufe00" <= character <= "\ufe0f":
        return "-"
    category = unicodedata.category(character)
    return "w" if category[0] in "LMN" else "s" if category == "So" else "-"


@pytest.fixture(scope="module")
def preprocessor() -> TextPreprocessor:
    english = ["a", "dog", "café", "🐶", "שלום", "2"]
    return TextPreprocessor({"en": english, "de": ["ein", "straße", "größe"]}, max_length=6)


def words(preprocessor: TextPreprocessor, text: str | bytes) -> list[str]:
    return [word.decode() for word in preprocessor.words([text]).to_list()[0]]


# Scripts old enough that every Unicode table in use agrees on them; final sigma and dotted I are tested below.
BLOCKS = [(0x20, 0x17F), (0x300, 0x36F), (0x391, 0x3A1), (0x3B1, 0x3C1), (0x410, 0x44F), (0x5D0, 0x5EA), (0x621, 0x64A)]
BLOCKS += [(0x1E00, 0x1E95), (0x2000, 0x206F), (0x2190, 0x21FF), (0x3041, 0x3096), (0x4E00, 0x4FFF), (0xFE00, 0xFE0F)]
BLOCKS += [(0xFF01, 0xFF5E), (0x1F300, 0x1F5FF)]
CHARACTERS = st.one_of([st.characters(min_codepoint=low, max_codepoint=high) for low, high in BLOCKS])
TEXTS = st.text(CHARACTERS.filter(lambda character: character != "İ"), max_size=40)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(TEXTS, min_size=20, max_size=20))
def test_words_equal_plain_python(texts: list[str]) -> None:
    preprocessor = TextPreprocessor({"en": []})
    found = [[word.decode() for word in row] for row in preprocessor.words(texts).to_list()]
    assert found == [plain_words(text) for text in texts]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A dog, a DOG!", ["a", "dog", "a", "dog"]),
        ("", [UNKNOWN]),
        (" \t\n\u00a0\u3000", [UNKNOWN]),
        ("?!…", [UNKNOWN]),
        ("two🐶🐶dogs", ["two", "🐶", "🐶", "dogs"]),
        ("I \u2764\ufe0f dogs", ["i", "\u2764", "dogs"]),
        ("Die Straße, die GRÖẞE", ["die", "straße", "die", "größe"]),
        ("Cafe\u0301", ["café"]),
        ("שלום, עולם", ["שלום", "עולם"]),
        ("ﬁne ２ dogs", ["fine", "2", "dogs"]),
        ("t-shirt don't", ["t", "shirt", "don", "t"]),
        ("a\x00b", ["a", "b"]),
        (b"a \xff\xfe dog\xffs", ["a", "dog", "s"]),
        (b"\xc3", [UNKNOWN]),
        ("a\tdog\r\na\x7fdog", ["a", "dog", "a", "dog"]),
    ],
)
def test_words_of_odd_input(preprocessor: TextPreprocessor, text: str | bytes, expected: list[str]) -> None:
    assert words(preprocessor, text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a dog", [2, 3]),
        ("a cat", [2, 1]),
        ("", [1]),
        ("   ", [1]),
        ("[UNK]", [1]),
        ("🐶", [5]),
        ("cafe\u0301 café CAFÉ", [4, 4, 4]),
        ("שלום 2", [6, 7]),
        (b"dog \xff", [3]),
        ("dog " * 5000, [3] * 6),
    ],
)
def test_ids(preprocessor: TextPreprocessor, text: str | bytes, expected: list[int]) -> None:
    ids = preprocessor([text], "en")
    assert ids.dtype == tf.int32
    assert ids.numpy().tolist() == [expected]


def test_a_batch_is_padded_with_zeros_and_has_no_empty_row(preprocessor: TextPreprocessor) -> None:
    assert preprocessor(["a dog", "", "dog"], "en").numpy().tolist() == [[2, 3], [1, 0], [3, 0]]
    assert preprocessor("a dog", "en").numpy().tolist() == [[2, 3]]
    assert preprocessor([], "en").shape[0] == 0


def test_eszett_is_not_folded_to_ss(preprocessor: TextPreprocessor) -> None:
    assert preprocessor(["Straße STRASSE"], "de").numpy().tolist() == [[3, 1]]


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.lists(TEXTS, min_size=1, max_size=20))
def test_composed_and_decomposed_text_have_the_same_words(texts: list[str]) -> None:
    preprocessor = TextPreprocessor({"en": []})
    composed = preprocessor.words([unicodedata.normalize("NFC", text) for text in texts])
    decomposed = preprocessor.words([unicodedata.normalize("NFD", text) for text in texts])
    assert composed.to_list() == decomposed.to_list()


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.lists(st.binary(max_size=30), min_size=1, max_size=10))
def test_any_bytes_give_rows_of_ids_that_agree_with_the_words(texts: list[bytes]) -> None:
    preprocessor = TextPreprocessor({"en": ["a", "0"]}, max_length=5)
    ids, rows = preprocessor.ragged(texts, "en"), preprocessor.words(texts)
    vocabulary = {word: number for number, word in enumerate(preprocessor.vocabulary("en")) if number > 0}
    assert ids.to_list() == [[vocabulary.get(word.decode(), 1) for word in row] for row in rows.to_list()]
    assert all(1 <= len(row) <= 5 for row in rows.to_list())


@pytest.mark.parametrize("text", ["ΟΔΟΣ", "İstanbul"])
def test_letters_with_special_lower_case_are_one_word(preprocessor: TextPreprocessor, text: str) -> None:
    assert len(words(preprocessor, text)) == 1


def test_the_vocabulary_is_ordered_by_count_then_alphabet_and_drops_rare_words() -> None:
    texts = ["b a c", "B c a", "c, d.", "e e e e"]
    preprocessor = TextPreprocessor.from_captions({"en": texts, "de": ["Straße"]}, minimum_count=2)
    assert preprocessor.languages == ("en", "de")
    assert preprocessor.vocabulary("en") == ("", UNKNOWN, "e", "c", "a", "b")
    assert preprocessor.vocabulary("de") == ("", UNKNOWN)
    assert TextPreprocessor.from_captions({"de": ["Straße"]}, 1).vocabulary("de") == ("", UNKNOWN, "straße")


def test_the_vocabulary_is_built_from_whole_captions_and_without_the_unknown_word() -> None:
    preprocessor = TextPreprocessor.from_captions({"en": ["", " ", "a b c d"]}, minimum_count=1, max_length=2)
    assert preprocessor.vocabulary("en") == ("", UNKNOWN, "a", "b", "c", "d")


def test_an_unknown_language_is_refused_with_the_known_ones(preprocessor: TextPreprocessor) -> None:
    for call in (preprocessor.vocabulary, lambda language: preprocessor(["a"], language)):
        with pytest.raises(DataError, match="'fr', expected one of: en, de"):
            call("fr")


def test_a_preprocessor_survives_saving(preprocessor: TextPreprocessor, tmp_path: Path) -> None:
    preprocessor.save(tmp_path)
    loaded = TextPreprocessor.load(tmp_path)
    assert loaded.get_config() == preprocessor.get_config()
    assert loaded(["a 🐶 café"], "en").numpy().tolist() == preprocessor(["a 🐶 café"], "en").numpy().tolist()


def test_a_missing_file_is_named(preprocessor: TextPreprocessor, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"preprocessor\.json"):
        TextPreprocessor.load(tmp_path)
    preprocessor.save(tmp_path)
    (tmp_path / "assets" / "vocabulary.de.txt").unlink()
    with pytest.raises(PresetError, match=r"vocabulary\.de\.txt.*'de' is missing"):
        TextPreprocessor.load(tmp_path)


def test_the_config_round_trip_keeps_vocabularies_and_length(preprocessor: TextPreprocessor) -> None:
    copy = TextPreprocessor.from_config(preprocessor.get_config())
    assert copy.get_config() == preprocessor.get_config()
    assert copy.max_length == 6


def test_it_runs_in_a_graph_and_from_a_saved_model(preprocessor: TextPreprocessor, tmp_path: Path) -> None:
    texts = ["a dog", "", "ein 🐶 café " * 20, b"\xff"]
    expected = preprocessor(texts, "en").numpy().tolist()

    class Module(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.preprocessor = preprocessor

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
        def tokenize(self, batch: tf.Tensor) -> tf.Tensor:
            return self.preprocessor(batch, "en")

    module = Module()
    assert module.tokenize(tf.constant(texts)).numpy().tolist() == expected
    tf.saved_model.save(module, str(tmp_path / "model"))
    loaded = tf.saved_model.load(str(tmp_path / "model"))
    assert loaded.tokenize(tf.constant(texts)).numpy().tolist() == expected
    assert loaded.tokenize(tf.constant([], tf.string)).shape[0] == 0
