"""Configuration of `vse_zoo.models.TransportVSE`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from vse_zoo.training.configs.captions import CaptionTrainConfig, EncoderConfig
from vse_zoo.training.configs.optimizer import WithOptimizer
from vse_zoo.training.configs.ranking import RankingConfig

__all__ = ["OptimalTransportConfig"]


class ModelConfig(EncoderConfig):
    """Sizes and similarity of the model; see `vse_zoo.models.TransportVSE`."""

    units: int = Field(1800, gt=0)
    region_context: bool = False
    transport_weight: float = Field(1.5, ge=0)
    aggregation: Literal["text_image", "image_text"] = "text_image"
    reduction: Literal["sum", "mean"] = "mean"
    beta: float = Field(0.5, gt=0)
    iterations: int = Field(20, gt=0)
    language_weight: float = Field(0.0, ge=0)


class TransportTrainConfig(CaptionTrainConfig):
    """As for the other models, but a batch holds sentences of all lengths: S depends on their number of words."""

    length_pool: int = Field(1, gt=0)


class OptimalTransportConfig(WithOptimizer):
    """All sections; what is left out has the paper's value, where the paper gives one."""

    model: ModelConfig = ModelConfig()
    ranking: RankingConfig = RankingConfig()
    train: TransportTrainConfig = Field(TransportTrainConfig(), validate_default=True)
