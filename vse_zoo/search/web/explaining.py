"""Where in a photo the words of a query are seen: the model's score, taken apart into words and regions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import tensorflow as tf
from numpy.typing import NDArray
from PIL import Image

from vse_zoo.errors import ConfigError
from vse_zoo.images import square_pixels
from vse_zoo.search.encoding import Encoder
from vse_zoo.search.words import understood

__all__ = ["Explained", "can_explain", "explain"]


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


def can_explain(model: Any) -> bool:
    """Whether its score is made of words and regions in a way that is known here."""
    return hasattr(model, "explain") or (hasattr(model, "attend_image") and hasattr(model, "attend_text"))


def explain(encoder: Encoder, picture: Image.Image, query: str, language: str | None = None) -> Explained:
    """Looks at one photo with one query.

    Raises:
        ConfigError: the model's score can't be taken apart.
        DataError: the model doesn't know the language, or the query has no word.
    """
    model = encoder.model
    if not can_explain(model):
        raise ConfigError(f"explain: {type(model).__name__} compares whole pictures with whole sentences.")
    read = understood(query, model.preprocessor, language)
    regions = encoder.regions(square_pixels(picture, encoder.image_size)[None])
    spans = model.preprocessor.spans([query])[0]
    # Another normalisation may make more characters, but never more words than `words` names.
    written = tuple(query[start:end] or word for word, (start, end) in zip(read.words, spans, strict=True))
    known = tuple(word not in read.unknown for word in read.words)
    if hasattr(model, "explain"):
        weights, parts, score = _transport(model, regions[0], query, read.language)
        return Explained(read.language, "transport", written, known, weights, parts, score)
    weights, parts, heads = _attention(model, regions, query, read.language)
    return Explained(read.language, "attention", written, known, weights, parts, float(parts.sum()), heads)


def _transport(
    model: Any, regions: NDArray[np.float32], query: str, language: str
) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """S = Σ_w max_r cos(w, r) − λ Σ_w Σ_r T_wr (1 − cos(w, r)), by words; the first sum may be a mean."""
    found = model.explain(regions, query, language)
    plan, cosines = np.asarray(found.plan.T, np.float64), np.asarray(found.similarity.T, np.float64)
    best = cosines.max(axis=1) / (1 if model.alignment.reduction == "sum" else len(cosines))
    parts = best - model.alignment.transport_weight * (plan * (1 - cosines)).sum(axis=1)
    return plan / plan.sum(axis=1, keepdims=True), parts, float(found.score)


def _attention(
    model: Any, regions: NDArray[np.float32], query: str, language: str
) -> tuple[NDArray[np.float64], NDArray[np.float64], tuple[tuple[NDArray[np.float32], NDArray[np.float32]], ...]]:
    """cos(v, t) = Σ_w Σ_r Σ_k a_kr b_kw ⟨x_r, y_w⟩ / (‖v‖ ‖t‖): a head is a mean of its items, so that the score of
    two sentences of heads is a sum over regions r and words w. What speaks for a word is the positive part of its row.
    """
    over_regions = model.attend_image(regions)[0]
    ids = model._words(model.preprocessor([query], language))
    states, over_words = (found[0].numpy() for found in _read(model.text_encoders[language], ids))
    # A head of nothing but one region, here twice, is that region.
    items = model.image_encoder(tf.constant(regions[0][:, None].repeat(2, axis=1)))
    items, states = items.numpy()[:, 0].astype(np.float64), states.astype(np.float64)
    norms = np.linalg.norm(over_regions @ items) * np.linalg.norm(over_words @ states)
    shares = np.einsum("kr,kw->wr", over_regions, over_words, dtype=np.float64)
    table = shares * (states @ items.T) / max(norms, 1e-12)
    gain = np.maximum(table, 0)
    total = gain.sum(axis=1, keepdims=True)
    weights = np.divide(gain, total, out=np.zeros_like(gain), where=total > 0)
    return weights, table.sum(axis=1), tuple(zip(over_regions, over_words, strict=True))


@tf.function(reduce_retracing=True)
def _read(encoder: Any, ids: Any) -> tuple[Any, Any]:
    """A sentence's states (1, T, H), of which the heads of a `SentenceEncoder` are means, and the weights (1, K, T)."""
    states, mask = encoder.states(ids)
    return states, encoder.attention(states, mask=mask, return_weights=True)[1]
