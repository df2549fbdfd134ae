"""Word vectors from a file: streamed, and only those of the words asked for are kept."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from vse_zoo.features.word_vectors.formats import read_rows
from vse_zoo.features.word_vectors.stream import open_stream
from vse_zoo.features.word_vectors.vectors import WordVectors

__all__ = ["read_word_vectors", "word_vector_dim"]


def read_word_vectors(path: str | Path, words: Sequence[str]) -> WordVectors:
    """Reads the vectors of ``words`` from a word2vec (binary, text), fastText (.vec) or GloVe file, gzipped or not.

    The format is recognised by the content. A word takes the vector of the row that spells it exactly; only if there is
    none, that of the first row which equals it in NFKC and lower case ('Paris' for 'paris', 'u' with a combining
    diaeresis for 'ü'; 'ss' is no 'ß'). Of rows with one word the first counts. All rows are checked for their length,
    and those of the words asked for for their numbers.

    Args:
        path: the file.
        words: V words, in the order of their ids; empty ones, such as padding's, have no vector.

    Returns:
        (V, D) float32 vectors, zero where none was found.

    Raises:
        DataError: the file is missing, damaged, cut short, or has a malformed row; file, row and field are named.
    """
    exact, lowered = defaultdict(list), defaultdict(list)
    for place, word in enumerate(words):
        if word:
            exact[word.encode()].append(place)
            lowered[_lower(word)].append(place)
    spelled: dict[bytes, np.ndarray] = {}
    similar: dict[str, np.ndarray] = {}
    with open_stream(Path(path)) as stream:
        dim, rows = read_rows(stream)
        for row in rows:
            if row.word in exact and row.word not in spelled:
                spelled[row.word] = row.vector()
            lower = _lower(row.word.decode("utf-8", "replace"))
            if lower in lowered and lower not in similar:
                similar[lower] = row.vector()
    vectors, found = np.zeros((len(words), dim), np.float32), np.zeros(len(words), bool)
    for places, vector in [(lowered[word], vector) for word, vector in similar.items()] + [
        (exact[word], vector) for word, vector in spelled.items()
    ]:
        vectors[places], found[places] = vector, True
    return WordVectors(vectors, found)


def word_vector_dim(path: str | Path) -> int:
    """Length D of a file's vectors, by its first line; a `DataError` if it is missing or in no known format."""
    with open_stream(Path(path)) as stream:
        return read_rows(stream)[0]


def _lower(word: str) -> str:
    # A file has millions of words, nearly all of which are in ASCII or in NFKC already.
    word = word if word.isascii() else unicodedata.normalize("NFKC", word)
    return word.lower()
