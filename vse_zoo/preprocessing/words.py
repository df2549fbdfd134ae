"""Sentences to normalised words, and where each word stands in the sentence as it was written."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import tensorflow as tf
from numpy.typing import NDArray

from vse_zoo.preprocessing.text_ops import tf_text

__all__ = ["split_words", "word_spans"]

# Words are runs of letters, marks and digits; symbols such as emoji stand alone; punctuation, spaces and the variation
# selectors after emoji (marks to Unicode) separate.
_DELIMITER = r"[^\p{L}\p{M}\p{N}]|[\x{FE00}-\x{FE0F}]"
_KEPT = r"\p{So}"


def split_words(texts: tf.Tensor) -> tf.RaggedTensor:
    """The words of (B,) sentences, NFKC and lower case: (B, None) strings, in the graph."""
    texts = tf.strings.lower(tf_text.normalize_utf8(_valid(texts), "NFKC"), encoding="utf-8")
    return tf_text.regex_split(texts, _DELIMITER, _KEPT)


def word_spans(texts: Sequence[str]) -> list[NDArray[np.int64]]:
    """For each sentence (T, 2): word t of `split_words` is made of ``text[start:end]``.

    Characters that become several words at once (½ is 1 and 2) belong to each of them; a letter and its combining marks
    are taken whole.
    """
    if not texts:
        return []
    valid = _valid(tf.constant(list(texts), tf.string))
    normal, changes = tf_text.normalize_utf8_with_offsets_map(valid, "NFKC")
    places = tf.ragged.range(tf.cast(tf.strings.length(normal), tf.int64) + 1)
    sources = tf_text.find_source_offsets(changes, places).to_list()
    letters = tf.strings.unicode_split(normal, "UTF-8")
    before = tf.ragged.map_flat_values(tf.strings.length, letters).to_list()
    lowered = tf.ragged.map_flat_values(lambda flat: tf.strings.lower(flat, encoding="utf-8"), letters)
    after = tf.ragged.map_flat_values(tf.strings.length, lowered).to_list()
    _, starts, ends = tf_text.regex_split_with_offsets(tf.strings.lower(normal, encoding="utf-8"), _DELIMITER, _KEPT)
    columns = zip(texts, sources, before, after, starts.to_list(), ends.to_list(), strict=True)
    return [_spans(*map(np.asarray, (_characters(text), *rest))) for text, *rest in columns]


def _valid(texts: tf.Tensor) -> tf.Tensor:
    # Invalid UTF-8, on which the Unicode ops would fail, and control characters, of which a NUL would end the text,
    # become spaces.
    return tf.strings.unicode_transcode(
        texts, "UTF-8", "UTF-8", errors="replace", replacement_char=ord(" "), replace_control_characters=True
    )


def _characters(text: str) -> NDArray[np.int64]:
    """(bytes + 1,) the character that each byte of the text belongs to."""
    lengths = [len(character.encode()) for character in text]
    return np.append(np.repeat(np.arange(len(text)), lengths), len(text))


def _spans(
    characters: NDArray[np.int64],
    sources: NDArray[np.int64],
    before: NDArray[np.int64],
    after: NDArray[np.int64],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Bytes of the lower-case text → letters → bytes of the normal text → bytes of the text → its characters.

    Args:
        characters: of each byte of the text.
        sources: (bytes of the normal text + 1,) the byte of the text that each comes from; of several that come from
            the same place, all but the first have the place's end.
        before, after: length in bytes of each letter of the normal text, and of the same in lower case.
        starts, ends: bytes of the lower-case text.
    """
    if not len(starts):
        return np.zeros((0, 2), np.int64)
    cut = np.cumsum(after)
    first, last = np.searchsorted(cut, starts, side="right"), np.searchsorted(cut, ends, side="left")
    cut = np.concatenate([[0], np.cumsum(before)])
    low, high = sources[cut[first]], sources[cut[last + 1]]
    inner = low == sources[cut[first] + 1]
    low[inner] = sources[np.searchsorted(sources, low[inner]) - 1]
    return np.stack([characters[low], characters[high]], axis=1)
