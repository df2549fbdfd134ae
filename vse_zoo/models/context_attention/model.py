"""Multi-head attention with diversity for multilingual visual-semantic embeddings (Huang et al., EMNLP 2019)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial
from itertools import combinations, combinations_with_replacement
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from keras import ops

from vse_zoo.layers import l2_normalize
from vse_zoo.losses import ContrastiveLoss, DiversityLoss, TripletLoss
from vse_zoo.models.base import VSEModel
from vse_zoo.models.context_attention.contextual import ContextualWords
from vse_zoo.models.context_attention.encoders import RegionEncoder, SentenceEncoder
from vse_zoo.ops.replicas import gather_rows, share
from vse_zoo.preprocessing import PiecePreprocessor, TextPreprocessor

__all__ = ["ContextAttentionVSE"]

Tensor = Any

_OBJECTS = ("preprocessor", "contextual", "ranking_loss", "diversity_loss")


@keras.saving.register_keras_serializable(package="vse_zoo")
class ContextAttentionVSE(VSEModel):
    """Images and sentences of any number of languages as K attended vectors each, concatenated into one space.

    The loss is eq. 4 of the paper: ``Σ_g l(V, G) + γ Σ_{g<h} l(G, H) + β Σ l^D`` over the languages g, h, the diversity
    terms over every pair of views, each view with itself included.

    Args:
        preprocessor: its languages are the model's.
        region_dim: length D of a region's feature vector.
        units: H, the size of a head.
        heads: K.
        attention_dim: size of the context vectors and of the attention space; H by default, as in the paper.
        word_dim: length of the word vectors; with ``contextual`` it is that of the states.
        train_words: train the word vectors; off, they stay as `set_word_vectors` gives them.
        contextual: an encoder whose states stand for word vectors, in all languages; the preprocessor gives its pieces.
        dropout: rate on inputs and items of the encoders; none in the paper.
        region_activation: of the region perceptron.
        region_power: of the regions' numbers (`RegionEncoder`); 1 in the paper.
        word_skip: add the word vectors to the LSTM's states (``word_dim`` = H); not in the paper.
        ranking_loss: l, a `TripletLoss` by default, or a `ContrastiveLoss`.
        diversity_loss: l^D.
        language_weight: γ, the weight of sentence–sentence terms.
        diversity_weight: β.

    Call arguments:
        batch: the batch contract's dict: ``regions (B, R, D)``, ``region_mask (B, R)``, ``text {language: (B, T)}``,
            with ``contextual`` also (B, T, D) float, states computed before, all zeros = padding; for the loss also
            ``text_mask {language: (B,)}`` and ``image_id (B,)``.

    Returns:
        ``{"image": (B, K, H), <language>: (B, K, H)}``.
    """

    loss_arguments = ("ranking_loss", "diversity_loss")

    def __init__(
        self,
        preprocessor: TextPreprocessor | PiecePreprocessor,
        region_dim: int,
        units: int = 512,
        heads: int = 3,
        attention_dim: int | None = None,
        word_dim: int = 300,
        train_words: bool = True,
        contextual: ContextualWords | None = None,
        dropout: float = 0.0,
        region_activation: str = "linear",
        region_power: float = 1.0,
        word_skip: bool = False,
        ranking_loss: TripletLoss | ContrastiveLoss | None = None,
        diversity_loss: DiversityLoss | None = None,
        language_weight: float = 0.6,
        diversity_weight: float = 1.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(preprocessor, region_dim, **kwargs)
        self.units = units
        self.heads = heads
        self.attention_dim = attention_dim or units
        self.contextual = contextual
        self.word_dim = contextual.dim if contextual else word_dim
        self.train_words = train_words
        self.dropout = dropout
        self.region_activation = region_activation
        self.region_power = region_power
        self.word_skip = word_skip
        self.ranking_loss = ranking_loss or TripletLoss(dtype=self.dtype_policy)
        self.diversity_loss = diversity_loss or DiversityLoss(dtype=self.dtype_policy)
        self.language_weight = language_weight
        self.diversity_weight = diversity_weight
        attended: dict[str, Any] = {"units": units, "heads": heads, "dropout": dropout, "dtype": self.dtype_policy}
        attended["attention_dim"] = self.attention_dim
        self.image_encoder = RegionEncoder(
            **attended, activation=region_activation, power=region_power, name="image_encoder"
        )
        attended |= {"word_dim": self.word_dim, "word_skip": word_skip, "train_words": train_words}
        self.text_encoders = {
            language: SentenceEncoder(
                None if contextual else len(preprocessor.vocabulary(language)),
                **attended,
                name=f"text_encoder_{language}",
            )
            for language in preprocessor.languages
        }
        self.loss_parts = {name: keras.metrics.Mean(name) for name in ("ranking", "language_ranking", "diversity")}

    def build(self, input_shape: Any = None) -> None:
        """Creates all weights; the sizes are the constructor's, so that no input is needed."""
        self.image_encoder.build((None, None, self.region_dim))
        for encoder in self.text_encoders.values():
            encoder.build((None, None))
        self.built = True

    def set_word_vectors(self, language: str, vectors: np.ndarray) -> None:
        """Sets the (V, D) vectors of a language's words, in the order of the preprocessor's vocabulary."""
        self.text_encoders[language].words.embeddings.assign(vectors)

    def call(self, batch: dict[str, Any], training: bool = False) -> dict[str, Tensor]:
        """The heads of every view; shapes in the class's documentation."""
        views = {"image": self.image_encoder(batch["regions"], mask=batch["region_mask"], training=training)}
        for language, encoder in self.text_encoders.items():
            views[language] = encoder(self._words(batch["text"][language], training), training=training)
        return views

    def _words(self, ids: Tensor, training: bool = False) -> Tensor:
        """What the text encoders take: ids, or the states of pieces, unless they were computed before."""
        if self.contextual is None or len(ids.shape) == 3:
            return ids
        return self.contextual(ids, training=training)

    def embed_image(self, regions: Tensor, region_mask: Tensor) -> Tensor:
        """(B, R, D) regions and (B, R) mask to (B, K·H) unit vectors."""
        return _embedding(self.image_encoder(regions, mask=region_mask))

    def embed_text(self, ids: Tensor, language: str) -> Tensor:
        """(B, T) ids of words or pieces to (B, K·H) unit vectors."""
        return _embedding(self.text_encoders[language](self._words(ids)))

    def compute_loss(
        self, x: Any = None, y: Any = None, y_pred: Any = None, sample_weight: Any = None, training: bool = True
    ) -> Tensor:
        """Eq. 4 of the paper, over the batches of all replicas; its parts are updated as metrics."""
        regularization = self.losses
        views = {name: gather_rows(heads) for name, heads in y_pred.items()}
        ids = gather_rows(x["image_id"])
        present = {"image": ops.ones_like(ids, dtype="bool")}
        present |= {language: gather_rows(mask) for language, mask in x["text_mask"].items()}
        parts = {
            "ranking": self._ranking(ids, views, present, [("image", language) for language in self.languages]),
            "language_ranking": self._ranking(ids, views, present, list(combinations(self.languages, 2))),
            "diversity": self._diversity(views, present),
        }
        for name, value in parts.items():
            self.loss_parts[name].update_state(value)
        weights = {"ranking": 1.0, "language_ranking": self.language_weight, "diversity": self.diversity_weight}
        return share(*(weights[name] * value for name, value in parts.items()), *regularization)

    def _ranking(self, ids: Tensor, views: Any, present: Any, pairs: list[tuple[str, str]]) -> Tensor:
        step = self.optimizer.iterations if getattr(self, "optimizer", None) else None
        total = ops.zeros(())
        for row, column in pairs:
            scores = ops.matmul(_embedding(views[row]), ops.transpose(_embedding(views[column])))
            masks = {"row_mask": present[row], "column_mask": present[column]}
            total = ops.add(total, self.ranking_loss(scores, ids, **masks, step=step))
        return total

    def _diversity(self, views: Any, present: Any) -> Tensor:
        total = ops.zeros(())
        if self.heads == 1 or self.diversity_weight == 0:
            return total
        for view, other in combinations_with_replacement(views, 2):
            mask = ops.logical_and(present[view], present[other])
            total = ops.add(total, self.diversity_loss(views[view], views[other], mask=mask))
        return total

    def attend_image(self, regions: np.ndarray, region_mask: np.ndarray | None = None) -> np.ndarray:
        """Attention weights of the heads over regions: (N, R, D) regions to (N, K, R) float32."""
        return self.attended_regions(regions, region_mask)[1]

    def attend_text(self, texts: list[str], language: str = "en") -> tuple[list[list[str]], np.ndarray]:
        """The words of each sentence and the heads' attention weights over them, (N, K, T) float32."""
        words = [[word.decode() for word in row] for row in self.preprocessor.words(texts).to_list()]
        return words, self.attended_words(texts, language)[1]

    def attended_regions(
        self, regions: np.ndarray, region_mask: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """What the heads of images are means of: items (N, R, H) of (N, R, D) regions; weights (N, K, R) float32."""
        regions, mask = self.checked_regions(regions, region_mask)
        items, weights = self._region_function(regions.astype("float32"), mask)
        return items.numpy(), weights.numpy()

    def attended_words(self, texts: Sequence[str], language: str = "en") -> tuple[np.ndarray, np.ndarray]:
        """What the heads of N sentences are means of: the words' states (N, T, H) and weights (N, K, T) float32."""
        ids = self._tokenizers[self.preprocessor.check_language(language)](list(texts)).to_tensor()
        states, weights = self._word_functions[language](ids)
        return states.numpy(), weights.numpy()

    @cached_property
    def _region_function(self) -> Any:
        regions = tf.TensorSpec([None, None, self.region_dim], tf.float32)
        return tf.function(self._attended_regions, input_signature=[regions, tf.TensorSpec([None, None], tf.bool)])

    def _attended_regions(self, regions: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        items = self.image_encoder.items(regions)
        return items, self.image_encoder.attention(items, mask=mask, return_weights=True)[1]

    @cached_property
    def _word_functions(self) -> dict[str, Any]:
        ids = tf.TensorSpec([None, None], tf.int32)
        return {
            language: tf.function(partial(self._attended_words, language=language), input_signature=[ids])
            for language in self.languages
        }

    def _attended_words(self, ids: Tensor, language: str) -> tuple[Tensor, Tensor]:
        encoder = self.text_encoders[language]
        states, mask = encoder.states(self._words(ids))
        return states, encoder.attention(states, mask=mask, return_weights=True)[1]

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        names = (
            "region_dim",
            "units",
            "heads",
            "attention_dim",
            "word_dim",
            "train_words",
            "dropout",
            "region_activation",
            "region_power",
            "word_skip",
        )
        weights = ("language_weight", "diversity_weight")
        return {
            **super().get_config(),
            **{name: getattr(self, name) for name in (*names, *weights)},
            **{name: keras.saving.serialize_keras_object(getattr(self, name)) for name in _OBJECTS},
        }


def _embedding(heads: Tensor) -> Tensor:
    """The K heads concatenated and scaled to unit length: (B, K, H) to (B, K·H)."""
    return l2_normalize(ops.reshape(heads, (-1, heads.shape[1] * heads.shape[2])))
