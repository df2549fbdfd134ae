"""Word vectors learned from captions without pictures: sentences about one thing lie close, in all languages.

As word averaging learns from paraphrases (Wieting et al., ICLR 2016), with captions of one picture as paraphrases and
in-batch negatives. Any corpus of multiply described pictures serves, whether or not the pictures are at hand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from keras import ops

from vse_zoo.errors import DataError
from vse_zoo.layers import l2_normalize
from vse_zoo.losses import ContrastiveLoss
from vse_zoo.preprocessing import TextPreprocessor

__all__ = ["CaptionPairs", "CaptionWords", "Described"]

Tensor = Any
Described = Sequence[Mapping[str, Sequence[str]]]
"""For each thing its captions by language."""

_DRAWN = 2
_SPECIAL_IDS = 2


class CaptionWords(keras.Model):
    """A vector for every word; the vector of a sentence is the mean of its words', compared by the cosine.

    The loss is ``Σ_g l(G, G') + Σ_{g<h} l(G, H)`` over the languages g, h, where G and G' are two captions of each
    thing that is described, and l is the `ContrastiveLoss`.

    Args:
        preprocessor: its vocabularies are the words.
        dim: D, length of the vectors.
        word_dropout: share of the words that a sentence loses in training.
        temperature: of the loss.

    Call arguments:
        batch: a batch of `CaptionPairs`.

    Returns:
        For each language (B, 2, D), unit vectors of the two captions.
    """

    def __init__(
        self, preprocessor: TextPreprocessor, dim: int, word_dropout: float = 0.2, temperature: float = 0.05
    ) -> None:
        super().__init__(name="caption_words")
        self.languages = preprocessor.languages
        self.words = {
            language: keras.layers.Embedding(len(preprocessor.vocabulary(language)), dim, name=f"words_{language}")
            for language in self.languages
        }
        # One number for a whole word.
        self.word_dropout = keras.layers.Dropout(word_dropout, name="word_dropout")
        self.ranking_loss = ContrastiveLoss(temperature)

    def build(self, input_shape: Any = None) -> None:
        """Creates the vectors."""
        for embedding in self.words.values():
            embedding.build((None, None))
        self.built = True

    def call(self, batch: dict[str, Any], training: bool = False) -> dict[str, Tensor]:
        """The sentences' vectors; shapes in the class's documentation."""
        return {language: self._sentences(batch["text"][language], language, training) for language in self.languages}

    def _sentences(self, ids: Tensor, language: str, training: bool) -> Tensor:
        weights = ops.cast(ops.not_equal(ids, 0), self.compute_dtype)
        weights = self.word_dropout(weights, training=training)
        # The cosine asks for no division by the number of words.
        return l2_normalize(ops.einsum("bct,bctd->bcd", weights, self.words[language](ids)))

    def compute_loss(
        self, x: Any = None, y: Any = None, y_pred: Any = None, sample_weight: Any = None, training: bool = True
    ) -> Tensor:
        """The loss of a batch, as the class's documentation says."""
        ids = ops.arange(ops.shape(x["counts"][self.languages[0]])[0])
        present = {language: [x["counts"][language] > place for place in range(_DRAWN)] for language in self.languages}
        pairs = [((language, 0), (language, 1)) for language in self.languages]
        pairs += [((one, 0), (other, 0)) for one, other in combinations(self.languages, 2)]
        total = ops.zeros(())
        for (row, place), (column, other) in pairs:
            scores = ops.matmul(y_pred[row][:, place], ops.transpose(y_pred[column][:, other]))
            masks = {"row_mask": present[row][place], "column_mask": present[column][other]}
            total += self.ranking_loss(scores, ids, **masks)
        return total

    def vectors(self, language: str, deviation: float = 0.25) -> np.ndarray:
        """(V, D) float32 of a language's words; the cosine leaves their scale open: the numbers' deviation is given."""
        found = ops.convert_to_numpy(self.words[language].embeddings)
        return found * (deviation / found[_SPECIAL_IDS:].std())


class CaptionPairs:
    """Batches of two captions of each thing in every language; batch n is a pure function of the seed and n.

    A batch is ``{"text": {language: (B, 2, T) int32}, "counts": {language: (B,) int32}}``: word ids, 0 = padding, and
    how many of the two captions there are, 2, 1 or 0; a missing one is one unknown word.

    Args:
        described: for each thing its captions by language; a language may lack.
        preprocessor: its languages are read.
        batch_size: things a batch; what is left over at the end of an epoch waits for another epoch's order.
        seed: of order and draws.

    Raises:
        DataError: there are fewer things than two.
    """

    def __init__(
        self, described: Described, preprocessor: TextPreprocessor, batch_size: int = 1024, seed: int = 0
    ) -> None:
        if len(described) < 2:
            raise DataError(f"found {len(described)} described pictures, expected two or more, to tell apart.")
        self._count = len(described)
        self._seed = seed
        self._ids, self._starts, self._counts = {}, {}, {}
        for language in preprocessor.languages:
            several = [each.get(language, ()) for each in described]
            counts = np.array([len(texts) for texts in several])
            # The last row is the missing caption.
            texts = [text for each in several for text in each] + [""]
            self._ids[language] = preprocessor(texts, language).numpy()
            self._starts[language] = np.cumsum(counts) - counts
            self._counts[language] = counts
        self.batch_size = min(batch_size, self._count)
        self.steps_per_epoch = self._count // self.batch_size

    def dataset(self, start_epoch: int = 0) -> tf.data.Dataset:
        """Endless batches from the start of an epoch on; pass `steps_per_epoch` to ``model.fit``."""
        spec = {
            "text": dict.fromkeys(self._ids, tf.TensorSpec([None, _DRAWN, None], tf.int32)),
            "counts": dict.fromkeys(self._ids, tf.TensorSpec([None], tf.int32)),
        }
        return tf.data.Dataset.from_generator(lambda: self._from(start_epoch), output_signature=spec).prefetch(2)

    def _from(self, epoch: int) -> Any:
        step = epoch * self.steps_per_epoch
        while True:
            yield self.batch(step)
            step += 1

    def batch(self, step: int) -> dict[str, Any]:
        """Batch number ``step``, counted from the first epoch's first, as NumPy arrays."""
        epoch, position = divmod(step, self.steps_per_epoch)
        order = np.random.default_rng((self._seed, epoch)).permutation(self._count)
        rows = order[position * self.batch_size : (position + 1) * self.batch_size]
        random = np.random.default_rng((self._seed, epoch, position))
        texts, counts = {}, {}
        for language, ids in self._ids.items():
            drawn = self._drawn(self._counts[language][rows], random)
            places = np.where(drawn >= 0, self._starts[language][rows][:, None] + drawn, len(ids) - 1)
            found = ids[places]
            texts[language] = found[:, :, : (found > 0).sum(axis=2).max()]
            counts[language] = np.minimum(self._counts[language][rows], _DRAWN).astype("int32")
        return {"text": texts, "counts": counts}

    def _drawn(self, counts: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """(B, 2) numbers of two different captions each, −1 where there are too few."""
        first = random.integers(0, np.maximum(counts, 1))
        second = (first + random.integers(1, np.maximum(counts, 2))) % np.maximum(counts, 1)
        return np.where(np.arange(_DRAWN) < counts[:, None], np.stack([first, second], axis=1), -1)
