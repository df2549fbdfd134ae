"""Sentences to word-piece ids of a contextual encoder, in TensorFlow ops that are saved and exported with the model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from numpy.typing import NDArray

from vse_zoo.errors import DataError, PresetError, located
from vse_zoo.files import read_json, write_json, write_text
from vse_zoo.preprocessing.piece_files import read_pieces
from vse_zoo.preprocessing.piece_spans import piece_spans
from vse_zoo.preprocessing.piece_words import split_piece_words
from vse_zoo.preprocessing.text_ops import tf_text

__all__ = ["PiecePreprocessor"]

_UNKNOWN, _START, _END = "[UNK]", "[CLS]", "[SEP]"
_CONTINUED = "##"
_ASSET = Path("assets") / "pieces.txt"


@keras.saving.register_keras_serializable(package="vse_zoo")
class PiecePreprocessor(tf.Module):
    """Words as BERT splits them, then WordPiece (Schuster and Nakajima, 2012): one list of pieces for all languages.

    Piece number n of the list has the id n + 1, since 0 is padding whatever the list begins with.

    Args:
        pieces: the encoder's, in its order, with [UNK], [CLS] and [SEP]; those that continue a word begin with ##.
        languages: those that the model is to know; each is split in the same way.
        lowercase: as the encoder's "uncased" training text was; ß stays.
        strip_accents: likewise; a cased encoder keeps its accents.
        max_length: pieces kept of a sentence.

    Call arguments:
        texts: (B,) strings, or one string.
        language: one of ``languages``.

    Returns:
        (B, T) int32, T the longest sentence of the batch and at least 1. A sentence without pieces (empty, white space)
        is one unknown piece. [CLS] and [SEP] are not among them; `ContextualWords` adds them.

    Raises:
        DataError: the language is not among the languages.
        ValueError: the list lacks a special piece.
    """

    def __init__(
        self,
        pieces: Sequence[str],
        languages: Sequence[str],
        lowercase: bool = False,
        strip_accents: bool = False,
        max_length: int = 100,
    ) -> None:
        super().__init__(name="piece_preprocessor")
        self.languages = tuple(languages)
        self.lowercase = lowercase
        self.strip_accents = strip_accents
        self.max_length = max_length
        self._pieces = tuple(pieces)
        if lacking := {_UNKNOWN, _START, _END} - set(pieces):
            raise ValueError(f"pieces: found no {', '.join(sorted(lacking))}, expected the list of a BERT tokenizer.")
        self._unknown = self._pieces.index(_UNKNOWN)
        self._readable = tf.constant(self._pieces, tf.string)
        self._word_pieces = tf_text.FastWordpieceTokenizer(
            list(pieces), _CONTINUED, token_out_type=tf.int32, unknown_token=_UNKNOWN, no_pretokenization=True
        )

    @classmethod
    def from_encoder(cls, encoder: str | Path, languages: Sequence[str], max_length: int = 100) -> PiecePreprocessor:
        """The preprocessor of a pretrained encoder; ``encoder`` as of `read_pieces`, whose errors it raises."""
        pieces, lowercase, strip_accents = read_pieces(encoder)
        return cls(pieces, languages, lowercase, strip_accents, max_length)

    @property
    def special_pieces(self) -> tuple[int, int]:
        """The numbers in the list of [CLS] and [SEP]."""
        return self._pieces.index(_START), self._pieces.index(_END)

    def vocabulary(self, language: str) -> tuple[str, ...]:
        """The pieces by id, the same in each language; the first stands for padding."""
        self.check_language(language)
        return ("", *self._pieces)

    def check_language(self, language: str) -> str:
        """``language`` itself, if it is one of the languages."""
        if language not in self.languages:
            raise DataError(f"language: found {language!r}, expected one of: {', '.join(self.languages)}.")
        return language

    def __call__(self, texts: Any, language: str) -> tf.Tensor:
        """Piece ids of a batch of sentences; shapes in the class's documentation."""
        return self.ragged(texts, language).to_tensor(default_value=0)

    def ragged(self, texts: Any, language: str) -> tf.RaggedTensor:
        """Piece ids without padding: (B, None) int32, every row of length ≥ 1."""
        self.check_language(language)
        return self._numbers(texts) + 1

    def words(self, texts: Any) -> tf.RaggedTensor:
        """The pieces of each sentence as text, ## on those that continue a word: (B, None) strings."""
        return tf.gather(self._readable, self._numbers(texts))

    def spans(self, texts: Sequence[str]) -> list[NDArray[np.int64]]:
        """Where each of `words` stands: for each sentence (T, 2), piece t is made of ``text[start:end]``.

        An unknown piece is made of its whole word; the one of a sentence without pieces is made of nothing: (0, 0).
        """
        if not texts:
            return []
        words = self._split(tf.constant(list(texts), tf.string))
        pieces = tf.gather(self._readable, self._word_pieces.tokenize(words))
        found = piece_spans(texts, words.to_list(), pieces.to_list(), self.lowercase, self.strip_accents)
        return [spans[: self.max_length] if len(spans) else np.zeros((1, 2), np.int64) for spans in found]

    def _split(self, texts: Any) -> tf.RaggedTensor:
        return split_piece_words(tf.reshape(texts, [-1]), self.lowercase, self.strip_accents)

    def _numbers(self, texts: Any) -> tf.RaggedTensor:
        """(B, None) int32 numbers in the list, every row of length ≥ 1."""
        words = self._split(tf.convert_to_tensor(texts, tf.string))
        numbers = self._word_pieces.tokenize(words).merge_dims(1, 2)[:, : self.max_length]
        empty = tf.cast(numbers.row_lengths() == 0, tf.int64)
        unknown = tf.RaggedTensor.from_row_lengths(tf.fill([tf.reduce_sum(empty)], self._unknown), empty)
        return tf.concat([numbers, unknown], axis=1)

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        return {"pieces": list(self._pieces), **self._settings()}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> PiecePreprocessor:
        """The preprocessor that `get_config` described."""
        return cls(**config)

    def _settings(self) -> dict[str, Any]:
        names = ("lowercase", "strip_accents", "max_length")
        return {"languages": list(self.languages), **{name: getattr(self, name) for name in names}}

    def save(self, folder: Path) -> None:
        """Writes ``preprocessor.json`` and ``assets/pieces.txt``, a piece a line."""
        write_text(folder / _ASSET, "".join(f"{piece}\n" for piece in self._pieces))
        write_json(folder / "preprocessor.json", {"class": type(self).__name__, **self._settings()})

    @classmethod
    def load(cls, folder: Path) -> PiecePreprocessor:
        """Reads what `save` wrote; a missing file is a `PresetError`."""
        config = read_json(folder / "preprocessor.json")
        path = folder / _ASSET
        if not path.is_file():
            raise PresetError(located(path, "the list of pieces is missing."))
        # Only line feeds part pieces: some are characters that splitlines would part at.
        pieces = path.read_text(encoding="utf-8").split("\n")[:-1]
        return cls(pieces, **{name: value for name, value in config.items() if name != "class"})
