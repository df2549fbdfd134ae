"""Word vectors from files written here in every format, and from damaged ones."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from vse_zoo.errors import DataError
from vse_zoo.features.word_vectors import WordVectors, read_word_vectors, word_vector_dim

WORDS = ["the", "Dog", "dog", "Paris", ". . .", "at x@y.org", "straße", "2"]
DIM = 7
VECTORS = np.random.default_rng(0).normal(size=(len(WORDS), DIM)).astype("float32")


def text(header: bool, end: str = "\n") -> bytes:
    rows = [f"{word} {' '.join(map(repr, vector.tolist()))}{end}" for word, vector in zip(WORDS, VECTORS, strict=True)]
    return ((f"{len(WORDS)} {DIM}\n" if header else "") + "".join(rows)).encode()


def binary(end: bytes = b"") -> bytes:
    # word2vec's own binary files have no words with spaces.
    rows = [
        word.replace(" ", "_").encode() + b" " + vector.tobytes() + end
        for word, vector in zip(WORDS, VECTORS, strict=True)
    ]
    return f"{len(WORDS)} {DIM}\n".encode() + b"".join(rows)


FORMATS: dict[str, Callable[[], bytes]] = {
    "word2vec.bin": binary,
    "word2vec_line_feeds.bin": lambda: binary(b"\n"),
    "word2vec.txt": lambda: text(True, " \n"),
    "fasttext.vec": lambda: text(True),
    "crlf.vec": lambda: text(True, "\r\n"),
    "glove.txt": lambda: text(False),
}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", FORMATS)
def test_every_format_gives_the_vectors_written(tmp_path: Path, name: str, packed: bool) -> None:
    content = FORMATS[name]()
    path = tmp_path / "vectors"
    path.write_bytes(gzip.compress(content) if packed else content)
    words = [word.replace(" ", "_") for word in WORDS] if "bin" in name else WORDS
    read = read_word_vectors(path, ["", "[UNK]", *words[::-1]])
    assert read.vectors.dtype == np.float32
    np.testing.assert_array_equal(read.vectors[2:], VECTORS[::-1])
    np.testing.assert_array_equal(read.found, [False, False, *[True] * len(WORDS)])
    assert not read.vectors[:2].any()


def read(tmp_path: Path, content: bytes, words: list[str]) -> WordVectors:
    path = tmp_path / "vectors.txt"
    path.write_bytes(content)
    return read_word_vectors(path, words)


def test_exact_spelling_comes_before_lower_case_and_the_first_row_before_later_ones(tmp_path: Path) -> None:
    content = b"Dog 1 1\nDOG 2 2\ndog 3 3\ndog 4 4\nParis 5 5\nPARIS 6 6\n"
    found = read(tmp_path, content, ["dog", "paris", "Dog", "dOg", "PARIS", "dog", "cat"])
    np.testing.assert_array_equal(found.vectors[:, 0], [3, 5, 1, 1, 6, 3, 0])
    np.testing.assert_array_equal(found.found, [True] * 6 + [False])


def test_german_words_are_found_however_a_file_composes_or_capitalises_them(tmp_path: Path) -> None:
    composed = "Über 1 1\nstraße 2 2\nstrasse 3 3\nschon 4 4\n"
    content = composed.encode() + "scho\u0308n 5 5\nu\u0308bung 6 6\nCafé 7 7\n".encode()
    found = read(tmp_path, content, ["über", "straße", "strasse", "schön", "übung", "café", "schon", "cafe"])
    np.testing.assert_array_equal(found.vectors[:, 0], [1, 2, 3, 5, 6, 7, 4, 0])


def test_the_dimension_is_that_of_the_first_line(tmp_path: Path) -> None:
    path = tmp_path / "vectors"
    for content in (text(True), text(False), binary(), gzip.compress(text(True))):
        path.write_bytes(content)
        assert word_vector_dim(path) == DIM
    with pytest.raises(DataError, match="no such file"):
        word_vector_dim(tmp_path / "none")


def test_missing_words_are_drawn_at_the_scale_of_those_found() -> None:
    random = np.random.default_rng(1)
    vectors = np.zeros((2000, 50), np.float32)
    found = random.random(2000) < 0.5
    vectors[found] = random.normal(0, 0.07, (found.sum(), 50))
    filled = WordVectors(vectors, found).filled(seed=3)
    np.testing.assert_array_equal(filled[found], vectors[found])
    assert filled[~found].std() == pytest.approx(vectors[found].std(), rel=0.02)
    assert abs(filled[~found].mean()) < 0.001
    np.testing.assert_array_equal(filled, WordVectors(vectors, found).filled(seed=3))
    assert (filled[~found] != WordVectors(vectors, found).filled(seed=4)[~found]).all()
    with pytest.raises(DataError, match="expected a file of their language"):
        WordVectors(vectors, np.zeros(2000, bool)).filled(seed=0)


def test_coverage_counts_the_tokens_of_all_words(tmp_path: Path) -> None:
    words = ["", "", "dog", "cat", "mouse"]
    found = read(tmp_path, b"dog 1 1\ncat 2 2\n", words)
    counts = np.array([0, 4, 10, 5, 1])
    assert found.coverage(words, counts) == "2 of 3 words have a vector (66.7%), 75.0% of the tokens; none for: mouse."
    assert found.missing(words) == ["mouse"]


def test_coverage_names_the_words_without_a_vector(tmp_path: Path) -> None:
    words = ["", "[UNK]", "dog", "cat", "mouse"]
    found = read(tmp_path, b"dog 1 1\ncat 2 2\n", words)
    assert found.coverage(words) == "2 of 4 words have a vector (50.0%); none for: [UNK], mouse."
    assert found.coverage(["", "", "dog", "cat", ""]) == "2 of 2 words have a vector (100.0%)."


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"row 1: found no word vectors"),
        (b"dog\n", r"row 1: found 'dog\\n', expected a header"),
        (b"dog 1 2\ncat 1\n", r"row 2, field 'vector': found 1 numbers after 'cat', expected 2"),
        (b"2 2\ndog 1 2\ncat 1\n", r"row 3, field 'vector': found 1 numbers after 'cat', expected 2"),
        (b"dog 1 2\ncat 1 x2\n", r"row 2, field 'number 2': found 'x2' for the word 'cat', expected a finite number"),
        (b"dog 1 2\ncat nan 2\n", r"row 2, field 'number 1': found nan for the word 'cat'"),
        (b"3 2\ndog 1 2\ncat 1 2\n", r"row 3: found 2 rows, expected 3 by the header"),
        (b"1 2\ndog 1 2\ncat 1 2\n", r"row 3: found 2 rows, expected 1 by the header"),
        (b"3 0\n", r"row 1: found 0 dimensions"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", r"row 1: found .* expected a header"),
    ],
)
def test_malformed_text_is_named_by_row_and_field(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(DataError, match=rf"vectors\.txt, {message}"):
        read(tmp_path, content, ["dog", "cat"])


@pytest.mark.parametrize("cut", [1, 4 * DIM, 4 * DIM + 1, 40])
def test_a_truncated_binary_file_is_refused(tmp_path: Path, cut: int) -> None:
    with pytest.raises(DataError, match=r"row \d: found the end of the file within this row, expected 8 rows"):
        read(tmp_path, binary()[:-cut], ["dog"])


def test_a_binary_file_without_words_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"row 1, field 'word': found no space within 10000 bytes"):
        read(tmp_path, b"5 3\n" + b"\x01" * 50_000, ["dog"])


def test_a_number_that_is_not_finite_in_a_binary_file_is_refused(tmp_path: Path) -> None:
    content = b"1 2\ndog " + np.array([1, np.inf], "<f4").tobytes()
    with pytest.raises(DataError, match=r"row 1, field 'number 2': found inf"):
        read(tmp_path, content, ["dog"])


def test_a_truncated_gzip_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"vectors\.txt: can't be read: damaged or cut short"):
        read(tmp_path, gzip.compress(text(True))[:-20], WORDS)


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file"):
        read_word_vectors(tmp_path / "none.bin", ["dog"])
    with pytest.raises(DataError, match="can't be opened"):
        read_word_vectors(tmp_path, ["dog"])


def test_binary_rows_may_straddle_the_chunks_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vse_zoo.features.word_vectors.formats._CHUNK", 5)
    found = read(tmp_path, binary(b"\n"), [word.replace(" ", "_") for word in WORDS])
    np.testing.assert_array_equal(found.vectors, VECTORS)
