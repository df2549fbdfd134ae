"""The word pieces of a pretrained encoder, and how its text was normalised, from the files that come with it."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from vse_zoo.errors import DataError, located
from vse_zoo.files import read_json

__all__ = ["read_pieces"]


def read_pieces(encoder: str | Path) -> tuple[list[str], bool, bool]:
    """The pieces in the encoder's order, whether it takes lower case, and whether without accents.

    Args:
        encoder: a Hugging Face folder (tokenizer.json, or vocab.txt and tokenizer_config.json), a Keras folder, or a
            name that keras_hub knows.

    Raises:
        DataError: there is none, or its tokenizer is no WordPiece.
    """
    folder = Path(encoder)
    fast = folder / "tokenizer.json"
    if (folder / "vocab.txt").is_file() or (fast.is_file() and "model" in read_json(fast)):
        return _hugging_face(folder)
    return _keras(str(encoder))


def _hugging_face(folder: Path) -> tuple[list[str], bool, bool]:
    fast, slow = folder / "tokenizer.json", folder / "tokenizer_config.json"
    described = read_json(fast) if fast.is_file() else {}
    model = described.get("model", {})
    if model.get("type", "WordPiece") != "WordPiece" or model.get("continuing_subword_prefix", "##") != "##":
        raise DataError(located(fast, f"found {model.get('type')!r}, expected WordPiece with '##'.", field="model"))
    text = folder / "vocab.txt"
    if text.is_file():
        # Only line feeds part pieces: some are characters that splitlines would part at.
        pieces = [line.rstrip("\r") for line in text.read_text(encoding="utf-8").removesuffix("\n").split("\n")]
    else:
        pieces = sorted(model["vocab"], key=model["vocab"].__getitem__)
    normalizer = described.get("normalizer") or {}
    if normalizer.get("type") == "BertNormalizer":
        lowercase, strip = normalizer["lowercase"], normalizer["strip_accents"]
    else:
        settings = read_json(slow) if slow.is_file() else {}
        lowercase, strip = settings.get("do_lower_case", True), settings.get("strip_accents")
    # Left open, accents go where capitals go.
    return pieces, bool(lowercase), bool(lowercase if strip is None else strip)


def _keras(encoder: str) -> tuple[list[str], bool, bool]:
    import keras_hub  # takes seconds, and only encoders need it

    try:
        tokenizer: Any = keras_hub.tokenizers.Tokenizer.from_preset(encoder)
    except Exception as error:  # of downloads, archives and configurations, by no common base class
        problem = f"found neither a folder with a tokenizer nor a preset of keras_hub ({_first_line(error)})."
        raise DataError(located(encoder, problem)) from error
    if not isinstance(tokenizer, keras_hub.tokenizers.WordPieceTokenizer):
        found = type(tokenizer).__name__
        raise DataError(located(encoder, f"found a {found}, expected a WordPiece tokenizer, as BERT has."))
    pieces = tokenizer.get_vocabulary()
    # keras_hub records no strip_accents for its uncased encoders, whose pieces have no accents.
    strip = tokenizer.strip_accents or (tokenizer.lowercase and not _accented(pieces))
    return list(pieces), tokenizer.lowercase, strip


def _accented(pieces: Sequence[str]) -> bool:
    """Whether a piece has an accented Latin letter."""
    return any(
        "LATIN" in unicodedata.name(letter, "") and len(unicodedata.normalize("NFD", letter)) > 1
        for letter in set("".join(pieces))
    )


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
