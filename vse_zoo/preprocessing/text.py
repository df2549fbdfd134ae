"""Sentences to word ids, in TensorFlow ops that are saved, exported and served with the model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from numpy.typing import NDArray

from vse_zoo.errors import DataError, PresetError, located
from vse_zoo.files import read_json, write_json, write_text
from vse_zoo.preprocessing.words import split_words, word_spans

__all__ = ["PADDING", "UNKNOWN", "TextPreprocessor"]

PADDING, UNKNOWN = 0, 1
_SPECIAL = ("", "[UNK]")


@keras.saving.register_keras_serializable(package="vse_zoo")
class TextPreprocessor(tf.Module):
    """NFKC, lower case, words, ids: one vocabulary per language, 0 = padding, 1 = unknown.

    Args:
        vocabularies: for each language its words, most frequent first, without the two special entries.
        max_length: words kept of a sentence.

    Call arguments:
        texts: (B,) strings, or one string.
        language: a key of ``vocabularies``.

    Returns:
        (B, T) int32, T the longest sentence of the batch and at least 1. A sentence without words (empty, white space,
        punctuation only) is one unknown word.

    Raises:
        DataError: the language is not among the vocabularies.
    """

    def __init__(self, vocabularies: Mapping[str, Sequence[str]], max_length: int = 100) -> None:
        super().__init__(name="text_preprocessor")
        self.max_length = max_length
        self._vocabularies = {language: tuple(words) for language, words in vocabularies.items()}
        self._tables = {language: _table(words) for language, words in self._vocabularies.items()}

    @classmethod
    def from_captions(
        cls, captions: Mapping[str, Sequence[str]], minimum_count: int = 4, max_length: int = 100
    ) -> TextPreprocessor:
        """Builds the vocabularies of the training captions: words that occur ``minimum_count`` times or more."""
        vocabularies = {}
        for language, texts in captions.items():
            counts = Counter(split_words(tf.constant(list(texts), tf.string)).flat_values.numpy().tolist())
            kept = [word for word in counts if counts[word] >= minimum_count]
            vocabularies[language] = [word.decode() for word in sorted(kept, key=lambda word: (-counts[word], word))]
        return cls(vocabularies, max_length)

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages, in the order given."""
        return tuple(self._vocabularies)

    def vocabulary(self, language: str) -> tuple[str, ...]:
        """The words of a language by id; the first two stand for padding and unknown words."""
        return (*_SPECIAL, *self._vocabularies[self.check_language(language)])

    def check_language(self, language: str) -> str:
        """``language`` itself, if there is a vocabulary for it."""
        if language not in self._vocabularies:
            known = ", ".join(self._vocabularies)
            raise DataError(f"language: found {language!r}, expected one of: {known}.")
        return language

    def __call__(self, texts: Any, language: str) -> tf.Tensor:
        """Word ids of a batch of sentences; shapes in the class's documentation."""
        return self.ragged(texts, language).to_tensor(default_value=PADDING)

    def ragged(self, texts: Any, language: str) -> tf.RaggedTensor:
        """Word ids without padding: (B, None) int32, every row of length ≥ 1."""
        words = self.words(texts)
        ids = tf.ragged.map_flat_values(self._tables[self.check_language(language)].lookup, words)
        return tf.cast(ids, tf.int32)

    def words(self, texts: Any) -> tf.RaggedTensor:
        """The normalised words of each sentence, cut at ``max_length``: (B, None) strings, every row of length ≥ 1."""
        words = split_words(tf.reshape(tf.convert_to_tensor(texts, tf.string), [-1]))[:, : self.max_length]
        empty = tf.cast(words.row_lengths() == 0, tf.int64)
        unknown = tf.RaggedTensor.from_row_lengths(tf.fill([tf.reduce_sum(empty)], _SPECIAL[UNKNOWN]), empty)
        return tf.concat([words, unknown], axis=1)

    def spans(self, texts: Sequence[str]) -> list[NDArray[np.int64]]:
        """Where each of `words` stands: for each sentence (T, 2), word t is made of the characters ``text[start:end]``.

        The one unknown word of a sentence without words is made of none: (0, 0).
        """
        spans = [found[: self.max_length] for found in word_spans(texts)]
        return [found if len(found) else np.zeros((1, 2), np.int64) for found in spans]

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        vocabularies = {language: list(words) for language, words in self._vocabularies.items()}
        return {"vocabularies": vocabularies, "max_length": self.max_length}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> TextPreprocessor:
        """The preprocessor that `get_config` described."""
        return cls(**config)

    def save(self, folder: Path) -> None:
        """Writes ``preprocessor.json`` and ``assets/vocabulary.<language>.txt``, a word a line."""
        for language, words in self._vocabularies.items():
            write_text(_asset(folder, language), "".join(f"{word}\n" for word in words))
        write_json(
            folder / "preprocessor.json",
            {"class": type(self).__name__, "languages": list(self.languages), "max_length": self.max_length},
        )

    @classmethod
    def load(cls, folder: Path) -> TextPreprocessor:
        """Reads what `save` wrote; a missing file is a `PresetError`."""
        config = read_json(folder / "preprocessor.json")
        vocabularies = {}
        for language in config["languages"]:
            path = _asset(folder, language)
            if not path.is_file():
                raise PresetError(located(path, f"the vocabulary of language {language!r} is missing."))
            vocabularies[language] = path.read_text(encoding="utf-8").splitlines()
        return cls(vocabularies, config["max_length"])


def _asset(folder: Path, language: str) -> Path:
    return folder / "assets" / f"vocabulary.{language}.txt"


def _table(words: Sequence[str]) -> tf.lookup.StaticHashTable:
    # The unknown word is an entry of its own, since a table without entries can't be made.
    ids = tf.range(UNKNOWN, len(_SPECIAL) + len(words), dtype=tf.int64)
    keys = tf.constant([_SPECIAL[UNKNOWN], *words], tf.string)
    pairs = tf.lookup.KeyValueTensorInitializer(keys, ids, tf.string, tf.int64)
    return tf.lookup.StaticHashTable(pairs, default_value=UNKNOWN)
