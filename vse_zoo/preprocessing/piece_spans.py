"""Where word pieces stand in a sentence as it was written."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

__all__ = ["piece_spans"]


def piece_spans(
    texts: Sequence[str],
    words: Sequence[Sequence[bytes]],
    pieces: Sequence[Sequence[Sequence[bytes]]],
    lowercase: bool,
    strip_accents: bool,
) -> list[NDArray[np.int64]]:
    """For each sentence (T, 2): piece t is made of ``text[start:end]``, a letter and its accents taken whole.

    Of a sentence with characters that are new to Python's Unicode tables, and that so can't be followed, each piece is
    made of the whole.

    Args:
        texts: the sentences.
        words: those of `split_piece_words`, by sentence.
        pieces: of each word, continued ones with ##.
        lowercase, strip_accents: how the words were made.
    """
    return [
        _spans(len(text), list(_sources(text, lowercase, strip_accents)), found, cut)
        for text, found, cut in zip(texts, words, pieces, strict=True)
    ]


def _sources(text: str, lowercase: bool, strip_accents: bool) -> Iterator[tuple[int, int]]:
    """For every character of the words, one after another, the place in the text of the letter that it comes from."""
    starts = [place for place, character in enumerate(text) if place == 0 or not unicodedata.combining(character)]
    for start, end in pairwise([*starts, len(text)]):
        letter = "".join(character for character in text[start:end] if not _is_removed(character))
        letter = unicodedata.normalize("NFC", letter)
        if strip_accents:
            letter = "".join(c for c in unicodedata.normalize("NFD", letter) if unicodedata.category(c) != "Mn")
        letter = letter.lower() if lowercase else letter
        yield from [(start, end)] * sum(not character.isspace() for character in letter)


def _is_removed(character: str) -> bool:
    invisible = unicodedata.category(character) in ("Cc", "Cf", "Co", "Cs") and not character.isspace()
    return invisible or character == "\ufffd"


def _spans(
    length: int, sources: list[tuple[int, int]], words: Sequence[bytes], pieces: Sequence[Sequence[bytes]]
) -> NDArray[np.int64]:
    spans: list[tuple[int, int]] = []
    count = sum(len(word.decode()) for word in words)
    if len(sources) != count:
        sources = [(0, length)] * count
    place = 0
    for word, cut in zip(words, pieces, strict=True):
        end = place + len(word.decode())
        lengths = [len(piece.decode().removeprefix("##")) for piece in cut] if len(cut) > 1 else [end - place]
        for length in lengths:
            spans.append((sources[place][0], sources[place + length - 1][1]))
            place += length
        place = end
    return np.array(spans, np.int64).reshape(-1, 2)
