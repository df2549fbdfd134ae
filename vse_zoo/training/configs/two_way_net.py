"""Configuration of `vse_zoo.models.TwoWayNet`."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from vse_zoo.losses import Decorrelation
from vse_zoo.training.configs.base import Section
from vse_zoo.training.configs.optimizer import OptimizerConfig, WithOptimizer
from vse_zoo.training.configs.precision import PrecisionTrainConfig
from vse_zoo.training.configs.ranking import RankingConfig

__all__ = ["TwoWayNetConfig"]


class ModelConfig(Section):
    """Sizes and weights; see `vse_zoo.models.TwoWayNet`."""

    layer_sizes: tuple[int, ...] = Field((392, 50, 392), min_length=1)
    position: int | None = Field(None, gt=0)
    parts: tuple[int, ...] | None = None
    tied: bool = True
    batch_norm: Literal["after", "before", "none"] = "after"
    negative_slope: float = Field(0.3, ge=0)
    dropout: float = Field(0.5, ge=0, lt=1)
    tied_dropout: bool = True
    weight_decay: float = Field(0.05, ge=0)
    gamma_strength: float = Field(0.05, ge=0)
    momentum: float = Field(0.99, ge=0, lt=1)
    synchronized: bool = True
    y_components: int | None = Field(None, gt=0)
    y_ridge: float = Field(1e-3, ge=0)
    input_dropout: float = Field(0.0, ge=0, lt=1)
    reconstruction_weight: float = Field(1.0, ge=0)
    mid_weight: float = Field(1.0, ge=0)
    canonical_weight: float = Field(0.0, ge=0)
    decorrelation_weight: float = Field(0.05, ge=0)
    ranking_weight: float = Field(0.0, ge=0)


class DecorrelationConfig(Section):
    """The decorrelation loss; see `vse_zoo.losses.Decorrelation`."""

    form: Literal["squared", "norm"] = "squared"
    centered: bool = False

    def loss(self) -> Decorrelation:
        """The loss that the section describes."""
        return Decorrelation(self.form, self.centered)


class SentencesConfig(Section):
    """Sentences as Fisher vectors of word vectors, which are read from a file or learned from the captions."""

    language: str = "en"
    word_vectors: str | None = None
    word_dim: int = Field(300, gt=0)
    components: int = Field(30, gt=0)
    minimum_count: int = Field(4, gt=0)
    max_length: int = Field(100, gt=0)


class TwoWayTrainConfig(PrecisionTrainConfig):
    """How long is trained, and how; for two matrices, which dev figure chooses the epoch."""

    epochs: int = Field(80, gt=0)
    monitor: Literal["canonical", "neuron"] = "canonical"


class TwoWayNetConfig(WithOptimizer):
    """All sections, by default the paper's for MNIST; [sentences] makes it a model of pictures and sentences."""

    model: ModelConfig = ModelConfig()
    decorrelation: DecorrelationConfig = DecorrelationConfig()
    ranking: RankingConfig = RankingConfig(kind="contrastive")
    sentences: SentencesConfig | None = None
    optimizer: OptimizerConfig = OptimizerConfig(
        kind="sgd",
        learning_rate=1e-4,
        schedule="staircase",
        step_epoch=20,
        step_factor=0.5,
        weight_decay=0,
        clip_norm=0,
    )
    train: TwoWayTrainConfig = Field(TwoWayTrainConfig(), validate_default=True)

    def network(self) -> dict[str, Any]:
        """Arguments of `TwoWayNet`, but for the views."""
        losses = {"decorrelation": self.decorrelation.loss(), "ranking_loss": self.ranking.loss()}
        return {**self.model.model_dump(), **losses}
