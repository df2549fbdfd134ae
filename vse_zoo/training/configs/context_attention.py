"""Configuration of `vse_zoo.models.ContextAttentionVSE`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator
from pydantic_core import PydanticCustomError

from vse_zoo.losses import DiversityLoss
from vse_zoo.training.configs.base import Section
from vse_zoo.training.configs.captions import CaptionTrainConfig, EncoderConfig
from vse_zoo.training.configs.optimizer import WithOptimizer
from vse_zoo.training.configs.ranking import RankingConfig
from vse_zoo.training.configs.text import TextConfig

__all__ = ["ContextAttentionConfig"]


class ModelConfig(EncoderConfig):
    """Sizes of the model; see `vse_zoo.models.ContextAttentionVSE`."""

    # That of [text]'s word vectors or encoder; 300 for random ones.
    word_dim: int | None = Field(None, gt=0)
    heads: int = Field(3, gt=0)
    attention_dim: int | None = Field(None, gt=0)
    region_activation: Literal["linear", "tanh", "relu"] = "linear"
    region_power: float = Field(1.0, gt=0, le=1)
    language_weight: float = Field(0.6, ge=0)
    diversity_weight: float = Field(1.0, ge=0)

    @field_validator("units")
    @classmethod
    def _two_directions(cls, units: int) -> int:
        if units % 2:
            raise PydanticCustomError("units", "expected an even number, half of it for each direction of the LSTM")
        return units


class DiversityConfig(Section):
    """The diversity loss; see `vse_zoo.losses.DiversityLoss`."""

    margin: float = Field(0.1, ge=0)
    form: Literal["distance", "similarity", "as_printed"] = "distance"
    reduction: Literal["sum", "mean"] = "sum"

    def loss(self) -> DiversityLoss:
        """The loss that the section describes."""
        return DiversityLoss(self.margin, self.form, self.reduction)


class ContextAttentionConfig(WithOptimizer):
    """All sections; what is left out has the paper's value, where the paper gives one."""

    model: ModelConfig = ModelConfig()
    ranking: RankingConfig = RankingConfig()
    diversity: DiversityConfig = DiversityConfig()
    text: TextConfig = TextConfig()
    train: CaptionTrainConfig = Field(CaptionTrainConfig(), validate_default=True)
