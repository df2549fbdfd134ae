"""Weakly supervised cross-domain alignment with optimal transport (Yuan et al., BMVC 2020)."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import keras
from keras import ops

from vse_zoo.losses import ContrastiveLoss, TripletLoss
from vse_zoo.models.optimal_transport.encoders import RegionMap, WordEncoder
from vse_zoo.models.optimal_transport.similarity import AlignmentSimilarity
from vse_zoo.models.pairwise import PairwiseVSEModel
from vse_zoo.ops.replicas import gather_rows, one_row_at_least, share
from vse_zoo.preprocessing import TextPreprocessor

__all__ = ["TransportVSE"]

Tensor = Any


@keras.saving.register_keras_serializable(package="vse_zoo")
class TransportVSE(PairwiseVSEModel):
    """Images as sets of regions and sentences as sets of words, compared by best matches and by optimal transport.

    ``S = S_cos + λ S_OT`` (`AlignmentSimilarity`), trained by the triplet loss with hardest negatives. With λ = 0 it is
    the paper's baseline. With several languages the loss is the sum over them, plus γ times that of each two of them.

    Args:
        preprocessor: its languages are the model's.
        region_dim: length D of a region's feature vector.
        units: E, the size of the joint space; 1800 in the paper.
        word_dim: length of the word vectors.
        dropout: rate on the regions and the word vectors; none in the paper.
        word_skip: add the word vectors to the GRU's states (``word_dim`` = E); not in the paper.
        region_context: let every region know the mean region; not in the paper.
        transport_weight, aggregation, reduction, beta, iterations: of `AlignmentSimilarity`.
        ranking_loss: a `TripletLoss` by default, or a `ContrastiveLoss`.
        language_weight: γ; not in the paper, which has one language.

    Call arguments:
        batch: the batch contract's dict: ``regions (B, R, D)``, ``region_mask (B, R)``, ``text {language: (B, T)}``;
            for the loss also ``text_mask {language: (B,)}`` and ``image_id (B,)``.

    Returns:
        Scores (B, B) of the batch's images with its sentences, by language; and of the sentences of two languages, by
        "<language>_<language>", where γ is not 0.
    """

    loss_arguments = ("ranking_loss",)

    def __init__(
        self,
        preprocessor: TextPreprocessor,
        region_dim: int,
        units: int = 1800,
        word_dim: int = 300,
        dropout: float = 0.0,
        word_skip: bool = False,
        region_context: bool = False,
        transport_weight: float = 1.5,
        aggregation: str = "text_image",
        reduction: str = "mean",
        beta: float = 0.5,
        iterations: int = 20,
        ranking_loss: TripletLoss | ContrastiveLoss | None = None,
        language_weight: float = 0.0,
        **kwargs: Any,
    ) -> None:
        policy = {"dtype": keras.dtype_policies.get(kwargs.get("dtype"))}
        options = (transport_weight, aggregation, reduction, beta, iterations)
        alignment = AlignmentSimilarity(*options, name="alignment", **policy)
        super().__init__(preprocessor, region_dim, alignment, **kwargs)
        self.units = units
        self.word_dim = word_dim
        self.dropout = dropout
        self.word_skip = word_skip
        self.region_context = region_context
        self.ranking_loss = ranking_loss or TripletLoss(**policy)
        self.language_weight = language_weight
        self.image_encoder = RegionMap(units, dropout, region_context, name="image_encoder", **policy)
        self.text_encoders = {
            language: WordEncoder(
                len(preprocessor.vocabulary(language)),
                word_dim,
                units,
                dropout,
                word_skip,
                name=f"text_encoder_{language}",
                **policy,
            )
            for language in preprocessor.languages
        }

    def build(self, input_shape: Any = None) -> None:
        """Creates all weights; the sizes are the constructor's, so that no input is needed."""
        self.image_encoder.build((None, None, self.region_dim))
        for encoder in self.text_encoders.values():
            encoder.build((None, None))
        self.built = True

    def call(self, batch: dict[str, Any], training: bool = False) -> dict[str, Tensor]:
        """Scores within a batch; shapes in the class's documentation."""
        image = self.image_encoder(batch["regions"], mask=batch["region_mask"], training=training)
        sets = {"image": (image, batch["region_mask"])}
        for language, encoder in self.text_encoders.items():
            ids = batch["text"][language]
            sets[language] = encoder(ids, training=training), ops.not_equal(ids, 0)
        return {name: self._scores(sets[row], sets[column]) for name, row, column in self._pairs()}

    def _pairs(self) -> list[tuple[str, str, str]]:
        """What is compared with what: the scores' name, their rows, their columns."""
        languages = [(language, "image", language) for language in self.languages]
        two = combinations(self.languages, 2) if self.language_weight else ()
        return languages + [(f"{one}_{other}", one, other) for one, other in two]

    def _scores(self, rows: tuple[Tensor, Tensor], columns: tuple[Tensor, Tensor]) -> Tensor:
        """Scores of this replica's rows with the columns of all replicas: so they divide the work among them."""
        vectors, mask = map(gather_rows, columns)
        regions, region_mask = map(one_row_at_least, rows)
        return self.alignment(regions, vectors, regions_mask=region_mask, words_mask=mask)[: ops.shape(rows[0])[0]]

    def embed_image(self, regions: Tensor, region_mask: Tensor) -> Tensor:
        """(B, R, D) regions and (B, R) mask to (B, R, E) unit vectors."""
        return self.image_encoder(regions, mask=region_mask)

    def embed_text(self, ids: Tensor, language: str) -> Tensor:
        """(B, T) word ids to (B, T, E) unit vectors."""
        return self.text_encoders[language](ids)

    def compute_loss(
        self, x: Any = None, y: Any = None, y_pred: Any = None, sample_weight: Any = None, training: bool = True
    ) -> Tensor:
        """The ranking loss of every language, and γ times that of every two, over the batches of all replicas."""
        terms = [ops.zeros(()), *self.losses]
        ids = gather_rows(x["image_id"])
        present = {"image": ops.ones_like(ids, dtype="bool")}
        present |= {language: gather_rows(mask) for language, mask in x["text_mask"].items()}
        step = self.optimizer.iterations if getattr(self, "optimizer", None) else None
        for name, row, column in self._pairs():
            masks = {"row_mask": present[row], "column_mask": present[column]}
            ranking = self.ranking_loss(gather_rows(y_pred[name]), ids, **masks, step=step)
            terms.append(ranking if row == "image" else self.language_weight * ranking)
        return share(*terms)

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        names = ("region_dim", "units", "word_dim", "dropout", "word_skip", "region_context", "language_weight")
        alignment = ("transport_weight", "aggregation", "reduction", "beta", "iterations")
        objects = ("preprocessor", "ranking_loss")
        return {
            **super().get_config(),
            **{name: getattr(self, name) for name in names},
            **{name: getattr(self.alignment, name) for name in alignment},
            **{name: keras.saving.serialize_keras_object(getattr(self, name)) for name in objects},
        }
