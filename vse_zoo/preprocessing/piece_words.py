"""Sentences to the words that WordPiece cuts, as BERT's basic tokenizer splits them (Devlin et al., 2019)."""

from __future__ import annotations

import tensorflow as tf

from vse_zoo.preprocessing.text_ops import tf_text

__all__ = ["split_piece_words"]

_SPACE = r"[\s\p{Z}]"
# Controls, invisible format characters such as the soft hyphen, private ones, and the mark of damaged text.
_REMOVED = r"[\p{Cc}\p{Cf}\p{Co}\x{FFFD}]"
_PUNCTUATION = r"[!-/:-@\[-`{-~]|\p{P}"
_CHINESE = (
    r"[\x{3400}-\x{4DBF}\x{4E00}-\x{9FFF}\x{F900}-\x{FAFF}\x{20000}-\x{2A6DF}\x{2A700}-\x{2CEAF}\x{2F800}-\x{2FA1F}]"
)


def split_piece_words(texts: tf.Tensor, lowercase: bool, strip_accents: bool) -> tf.RaggedTensor:
    """The words of (B,) sentences: (B, None) strings, in the graph.

    Words end at white space; each punctuation mark and each Chinese character is a word of its own. Letters and their
    accents are composed first (NFC), whichever way they were typed. Lower case is no case folding: ß stays.
    """
    texts = tf.strings.unicode_transcode(texts, "UTF-8", "UTF-8", errors="replace", replacement_char=0xFFFD)
    texts = tf.strings.regex_replace(tf.strings.regex_replace(texts, _SPACE, " "), _REMOVED, "")
    texts = tf_text.normalize_utf8(texts, "NFC")
    if strip_accents:
        texts = tf.strings.regex_replace(tf_text.normalize_utf8(texts, "NFD"), r"\p{Mn}", "")
    if lowercase:
        texts = tf.strings.lower(texts, encoding="utf-8")
    kept = f"{_PUNCTUATION}|{_CHINESE}"
    return tf_text.regex_split(texts, f"{_SPACE}|{kept}", kept)
