"""Word vectors to a file that `read_word_vectors`, fastText's and gensim's readers take."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from vse_zoo.files import write_text

__all__ = ["write_word_vectors"]


def write_word_vectors(path: Path, words: Sequence[str], vectors: np.ndarray) -> None:
    """Writes fastText's .vec: a header ``words dimensions``, then a word and its numbers a line, four decimals.

    Args:
        path: the file; what was there is replaced once all is written.
        words: V words; empty ones, such as padding's, are left out.
        vectors: (V, D) float.
    """
    rows = [
        f"{word} {' '.join(f'{number:.4f}' for number in vector)}\n"
        for word, vector in zip(words, vectors, strict=True)
        if word
    ]
    write_text(path, "".join([f"{len(rows)} {vectors.shape[1]}\n", *rows]))
