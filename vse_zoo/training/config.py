"""A recipe's configuration: one TOML file is one experiment, checked field by field."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, Literal, Self

import keras
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from vse_zoo.errors import ConfigError, located
from vse_zoo.losses import ContrastiveLoss, DiversityLoss, TripletLoss

__all__ = ["Config", "OptimizerConfig", "RankingConfig", "TrainConfig", "load_config"]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ModelConfig(_Section):
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


class RankingConfig(_Section):
    """The ranking loss: triplet (margin, negatives, warmup_steps) or contrastive (temperature, learnable)."""

    kind: Literal["triplet", "contrastive"] = "triplet"
    margin: float = Field(0.2, gt=0)
    negatives: Literal["hardest", "sum"] = "hardest"
    warmup_steps: int = Field(0, ge=0)
    temperature: float = Field(0.05, gt=0)
    learnable: bool = False
    reduction: Literal["sum", "mean"] = "sum"

    def loss(self) -> TripletLoss | ContrastiveLoss:
        """The loss that the section describes."""
        if self.kind == "triplet":
            return TripletLoss(self.margin, self.negatives, self.warmup_steps, self.reduction)
        return ContrastiveLoss(self.temperature, self.learnable, self.reduction)


class DiversityConfig(_Section):
    """The diversity loss; see `vse_zoo.losses.DiversityLoss`."""

    margin: float = Field(0.1, ge=0)
    form: Literal["similarity", "distance", "as_printed"] = "similarity"
    reduction: Literal["sum", "mean"] = "sum"

    def loss(self) -> DiversityLoss:
        """The loss that the section describes."""
        return DiversityLoss(self.margin, self.form, self.reduction)


class OptimizerConfig(_Section):
    """AdamW: cosine decay after a linear warm-up, or a step down after an epoch."""

    learning_rate: float = Field(2e-4, gt=0)
    schedule: Literal["cosine", "step"] = "step"
    warmup_share: float = Field(0.1, ge=0, lt=1)
    step_epoch: int = Field(15, gt=0)
    step_factor: float = Field(0.1, gt=0)
    weight_decay: float = Field(1e-6, ge=0)
    clip_norm: float = Field(2.0, gt=0)

    def optimizer(self, steps_per_epoch: int, epochs: int) -> keras.optimizers.Optimizer:
        """The optimiser for a run of that many steps and epochs."""
        return keras.optimizers.AdamW(
            self._rate(steps_per_epoch, epochs), weight_decay=self.weight_decay, global_clipnorm=self.clip_norm
        )

    def _rate(self, steps_per_epoch: int, epochs: int) -> keras.optimizers.schedules.LearningRateSchedule:
        if self.schedule == "step":
            values = [self.learning_rate, self.learning_rate * self.step_factor]
            return keras.optimizers.schedules.PiecewiseConstantDecay([self.step_epoch * steps_per_epoch], values)
        steps = steps_per_epoch * epochs
        warmup = int(steps * self.warmup_share)
        first = 0.0 if warmup else self.learning_rate
        return keras.optimizers.schedules.CosineDecay(
            first, max(1, steps - warmup), warmup_target=self.learning_rate, warmup_steps=warmup
        )


class TrainConfig(_Section):
    """What is trained on, for how long, from which seed."""

    languages: tuple[str, ...] | None = None
    epochs: int = Field(20, gt=0)
    batch_size: int = Field(128, gt=1)
    captions: Literal["all", "one"] = "all"
    minimum_count: int = Field(4, gt=0)
    max_length: int = Field(100, gt=0)
    seed: int = Field(0, ge=0)


class Config(_Section):
    """All sections; a missing one has the paper's values."""

    model: ModelConfig = ModelConfig()
    ranking: RankingConfig = RankingConfig()
    diversity: DiversityConfig = DiversityConfig()
    optimizer: OptimizerConfig = OptimizerConfig()
    train: TrainConfig = TrainConfig()

    @model_validator(mode="after")
    def _step_within_run(self) -> Self:
        if self.optimizer.schedule == "step" and self.optimizer.step_epoch > self.train.epochs:
            raise ValueError("optimizer.step_epoch is after the last epoch (train.epochs)")
        return self


def load_config(path: Path, **overrides: Any) -> Config:
    """Reads a TOML configuration.

    Args:
        path: the file.
        overrides: values for the [train] section that replace the file's, None for "keep".

    Raises:
        ConfigError: names the file, the field, what was found and what is expected.
    """
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ConfigError(located(path, "no such file.")) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(located(path, f"not valid TOML ({error}).")) from None
    chosen = {name: value for name, value in overrides.items() if value is not None}
    try:
        return Config.model_validate({**values, "train": {**values.get("train", {}), **chosen}})
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or None
        problem = f"found {first['input']!r}: {first['msg'].lower()}."
        raise ConfigError(located(path, problem, field=field)) from None
