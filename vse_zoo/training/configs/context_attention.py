"""Configuration of `vse_zoo.models.ContextAttentionVSE`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from vse_zoo.losses import DiversityLoss
from vse_zoo.training.configs.base import Section, TrainConfig
from vse_zoo.training.configs.optimizer import WithOptimizer
from vse_zoo.training.configs.ranking import RankingConfig

__all__ = ["ContextAttentionConfig"]


class ModelConfig(Section):
    """Sizes of the model; see `vse_zoo.models.ContextAttentionVSE`."""

    units: int = Field(512, gt=0)
    heads: int = Field(3, gt=0)
    attention_dim: int | None = Field(None, gt=0)
    word_dim: int = Field(300, gt=0)
    dropout: float = Field(0.0, ge=0, lt=1)
    region_activation: Literal["linear", "tanh", "relu"] = "linear"
    word_skip: bool = False
    language_weight: float = Field(0.6, ge=0)
    diversity_weight: float = Field(1.0, ge=0)

    @field_validator("units")
    @classmethod
    def _two_directions(cls, units: int) -> int:
        if units % 2:
            raise PydanticCustomError("units", "expected an even number, half of it for each direction of the LSTM")
        return units

    @field_validator("word_skip")
    @classmethod
    def _same_size(cls, word_skip: bool, info: ValidationInfo) -> bool:
        found = {name: info.data.get(name) for name in ("word_dim", "units")}
        if word_skip and None not in found.values() and found["word_dim"] != found["units"]:
            raise PydanticCustomError("skip", "expected word_dim to be units, found {word_dim} and {units}", found)
        return word_skip


class DiversityConfig(Section):
    """The diversity loss; see `vse_zoo.losses.DiversityLoss`."""

    margin: float = Field(0.1, ge=0)
    form: Literal["similarity", "distance", "as_printed"] = "similarity"
    reduction: Literal["sum", "mean"] = "sum"

    def loss(self) -> DiversityLoss:
        """The loss that the section describes."""
        return DiversityLoss(self.margin, self.form, self.reduction)


class CaptionTrainConfig(TrainConfig):
    """What is trained on, for how long, from which seed."""

    languages: tuple[str, ...] | None = None
    captions: Literal["all", "one"] = "all"
    minimum_count: int = Field(4, gt=0)
    max_length: int = Field(100, gt=0)
    length_pool: int = Field(32, gt=0)


class ContextAttentionConfig(WithOptimizer):
    """All sections; what is left out has the paper's value, where the paper gives one."""

    model: ModelConfig = ModelConfig()
    ranking: RankingConfig = RankingConfig()
    diversity: DiversityConfig = DiversityConfig()
    train: CaptionTrainConfig = Field(CaptionTrainConfig(), validate_default=True)
