"""Sentences to word ids in a served model, whose vocabularies are files among the SavedModel's assets."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import tensorflow as tf

from vse_zoo.files import write_text
from vse_zoo.preprocessing import TextPreprocessor
from vse_zoo.preprocessing.text import PADDING, UNKNOWN

__all__ = ["ServedText"]

Tensor = Any


class ServedText:
    """What a preprocessor does, with the words of each language in ``assets/vocabulary.<language>.txt``.

    Line n, from 0, is the word with id n + 1. Word pieces stay in the graph: their tokeniser holds them compiled.

    Args:
        preprocessor: the model's; None: it takes no sentences.
        folder: where the vocabularies are written; they must be there until the model is saved.
    """

    def __init__(self, preprocessor: Any, folder: Path) -> None:
        self.preprocessor = preprocessor
        self.tables: dict[str, Any] = {}
        if isinstance(preprocessor, TextPreprocessor):
            self.tables = {language: _table(preprocessor, language, folder) for language in preprocessor.languages}

    def ids(self, texts: Tensor, language: str) -> Tensor:
        """(B,) sentences to word ids (B, T), as the preprocessor gives them."""
        if language not in self.tables:
            return self.preprocessor(texts, language)
        lines = tf.ragged.map_flat_values(self.tables[language].lookup, self.preprocessor.words(texts))
        return tf.cast(lines + UNKNOWN, tf.int32).to_tensor(default_value=PADDING)


def _table(preprocessor: TextPreprocessor, language: str, folder: Path) -> tf.lookup.StaticHashTable:
    path = folder / f"vocabulary.{language}.txt"
    write_text(path, "".join(f"{word}\n" for word in preprocessor.vocabulary(language)[UNKNOWN:]))
    lines = _Lines(
        str(path), tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER
    )
    return tf.lookup.StaticHashTable(lines, default_value=0)


class _Lines(tf.lookup.TextFileInitializer):
    """Names the table after the contents of its file: TensorFlow would write the path of the exporting machine."""

    def __init__(self, path: str, *arguments: Any) -> None:
        self._digest = hashlib.sha256(Path(path).read_bytes()).hexdigest()
        super().__init__(path, *arguments)

    @property
    def _shared_name(self) -> str:
        return f"vocabulary_{self._digest}"
