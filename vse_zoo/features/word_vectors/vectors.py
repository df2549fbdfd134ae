"""The vectors of a vocabulary's words, and which words have one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["WordVectors"]

_LISTED = 10


@dataclass(frozen=True, eq=False)
class WordVectors:
    """A row for every word of a vocabulary.

    Args:
        vectors: (V, D) float32, zero where a word has no vector.
        found: (V,) bool, True where it has one.
    """

    vectors: np.ndarray
    found: np.ndarray

    def coverage(self, words: Sequence[str]) -> str:
        """How many of the (V) words have a vector, and which are the first that have none, in a sentence."""
        wanted = [(word, bool(found)) for word, found in zip(words, self.found, strict=True) if word]
        missing = [word for word, found in wanted if not found]
        share = 1 - len(missing) / max(1, len(wanted))
        text = f"{len(wanted) - len(missing):,} of {len(wanted):,} words have a vector ({share:.1%})"
        more = ", …" if len(missing) > _LISTED else ""
        return text + (f"; none for: {', '.join(missing[:_LISTED])}{more}." if missing else ".")
