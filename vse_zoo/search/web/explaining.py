"""Where in a photo the words of a query are seen: the model's score, taken apart into words and regions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from vse_zoo.errors import ConfigError
from vse_zoo.search.encoding import Encoder
from vse_zoo.search.words import as_written, understood
from vse_zoo.sets import ItemSets

__all__ = ["Explained", "Seen", "can_explain", "explain", "look"]

_KEPT = 256
"""Queries that needn't be read again for the next photo."""


@dataclass(frozen=True, eq=False)
class Explained:
    """T words over R regions.

    Args:
        language: of the query.
        method: "attention" or "transport".
        words: as they were written.
        known: (T,) whether the model knows each.
        weights: (T, R) each word's share of each region; rows sum to 1, or are 0 where nothing speaks for the word.
        parts: (T,) what each word adds to the score.
        score: the model's.
        heads: of each attention head, its weights over regions (R,) and words (T,).
    """

    language: str
    method: Literal["attention", "transport"]
    words: tuple[str, ...]
    known: tuple[bool, ...]
    weights: NDArray[np.float64]
    parts: NDArray[np.float64]
    score: float
    heads: tuple[tuple[NDArray[np.float32], NDArray[np.float32]], ...] = ()


@dataclass(frozen=True, eq=False)
class Seen:
    """A photo as the model sees it before it knows the question.

    Args:
        items: (R, E) of each region, what words are compared with.
        heads: (K, R) weights of each attention head; of a model without heads (0, R).
    """

    items: NDArray[np.float32]
    heads: NDArray[np.float32]


def can_explain(model: Any) -> bool:
    """Whether its score is made of words and regions in a way that is known here."""
    return hasattr(model, "align") or hasattr(model, "attended_regions")


def look(encoder: Encoder, picture: Image.Image) -> Seen:
    """Looks at one photo.

    Raises:
        ConfigError: the model's score can't be taken apart.
    """
    model = encoder.model
    if not can_explain(model):
        raise ConfigError(f"explain: {type(model).__name__} compares whole pictures with whole sentences.")
    if hasattr(model, "align"):
        items = encoder.encode([picture])[0]
        return Seen(items, np.zeros((0, len(items)), np.float32))
    items, heads = model.attended_regions(model.picture_regions([picture]))
    return Seen(items[0], heads[0])


def explain(encoder: Encoder, seen: Seen, query: str, language: str | None = None) -> Explained:
    """Compares one photo with one query.

    Raises:
        DataError: the model doesn't know the language, or the query has no word.
    """
    preprocessor = encoder.model.preprocessor
    read = understood(query, preprocessor, language)
    # Another normalisation may make more characters, but never more words than `words` names.
    written = tuple(own or word for word, own in zip(read.words, as_written(query, preprocessor), strict=True))
    known = tuple(word not in read.unknown for word in read.words)
    if hasattr(encoder.model, "align"):
        weights, parts = _transport(encoder.model, seen, encoder.encode_text(query, read.language))
        return Explained(read.language, "transport", written, known, weights, parts, float(parts.sum()))
    states, over_words = _attended(encoder.model, query, read.language)
    weights, parts = _attention(seen, states, over_words)
    heads = tuple(zip(seen.heads, over_words, strict=True))
    return Explained(read.language, "attention", written, known, weights, parts, float(parts.sum()), heads)


@lru_cache(_KEPT)
def _attended(model: Any, query: str, language: str) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """A query's (T, H) states, and the (K, T) weights of the heads."""
    states, weights = model.attended_words([query], language)
    return states[0], weights[0]


def _transport(model: Any, seen: Seen, words: NDArray[np.float32]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """S = Σ_w max_r cos(w, r) − λ Σ_w Σ_r T_wr (1 − cos(w, r)), by words; the first sum may be a mean."""
    pair = (ItemSets(items, np.array([len(items)], np.int64)) for items in (seen.items, words))
    plan, cosines = (np.asarray(found[0].T, np.float64) for found in model.align(*pair))
    best = cosines.max(axis=1) / (1 if model.alignment.reduction == "sum" else len(cosines))
    parts = best - model.alignment.transport_weight * (plan * (1 - cosines)).sum(axis=1)
    return plan / plan.sum(axis=1, keepdims=True), parts


def _attention(
    seen: Seen, states: NDArray[np.float32], over_words: NDArray[np.float32]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """cos(v, t) = Σ_w Σ_r Σ_k a_kr b_kw ⟨x_r, y_w⟩ / (‖v‖ ‖t‖): a head is a mean of its items, so that the score of
    two sentences of heads is a sum over regions r and words w. What speaks for a word is the positive part of its row.
    """
    items, states = seen.items.astype(np.float64), states.astype(np.float64)
    norms = np.linalg.norm(seen.heads @ items) * np.linalg.norm(over_words @ states)
    shares = np.einsum("kr,kw->wr", seen.heads, over_words, dtype=np.float64)
    table = shares * (states @ items.T) / max(norms, 1e-12)
    gain = np.maximum(table, 0)
    total = gain.sum(axis=1, keepdims=True)
    weights = np.divide(gain, total, out=np.zeros_like(gain), where=total > 0)
    return weights, table.sum(axis=1)
