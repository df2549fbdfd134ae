"""A recipe's configuration: one TOML file is one experiment, checked field by field."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, Literal

import keras
from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from vse_zoo.errors import ConfigError, located
from vse_zoo.losses import ContrastiveLoss, DiversityLoss, TripletLoss

__all__ = ["Config", "OptimizerConfig", "RankingConfig", "TrainConfig", "load_config"]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


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


class RankingConfig(_Section):
    """The ranking loss: triplet (margin, negatives, warmup_steps) or contrastive (temperature, learnable)."""

    kind: Literal["triplet", "contrastive"] = "triplet"
    margin: float = Field(0.2, gt=0)
    negatives: Literal["hardest", "sum"] = "hardest"
    warmup_steps: int = Field(0, ge=0)
    temperature: float = Field(0.05, gt=0)
    learnable: bool = False
    reduction: Literal["sum", "mean"] | None = None

    def loss(self) -> TripletLoss | ContrastiveLoss:
        """The loss that the section describes; by default a triplet loss sums and a contrastive one averages."""
        if self.kind == "triplet":
            return TripletLoss(self.margin, self.negatives, self.warmup_steps, self.reduction or "sum")
        return ContrastiveLoss(self.temperature, self.learnable, self.reduction or "mean")


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
        optimizer = keras.optimizers.AdamW(
            self._rate(steps_per_epoch, epochs), weight_decay=self.weight_decay, global_clipnorm=self.clip_norm
        )
        # Decay would pull the temperature towards 1.
        optimizer.exclude_from_weight_decay(var_names=["log_temperature"])
        return optimizer

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
    # The dropout states are 1,000 times the seed, in 32 bits.
    seed: int = Field(0, ge=0, le=4_000_000)


class Config(_Section):
    """All sections; what is left out has the paper's value, where the paper gives one."""

    model: ModelConfig = ModelConfig()
    ranking: RankingConfig = RankingConfig()
    diversity: DiversityConfig = DiversityConfig()
    optimizer: OptimizerConfig = OptimizerConfig()
    train: TrainConfig = Field(TrainConfig(), validate_default=True)

    @field_validator("train")
    @classmethod
    def _step_within_run(cls, train: TrainConfig, info: ValidationInfo) -> TrainConfig:
        optimizer = info.data.get("optimizer")
        if optimizer and optimizer.schedule == "step" and optimizer.step_epoch > train.epochs:
            raise PydanticCustomError(
                "step_epoch",
                "epochs is {epochs}, expected at least optimizer.step_epoch, {step}",
                {"epochs": train.epochs, "step": optimizer.step_epoch},
            )
        return train


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
    except OSError as error:
        raise ConfigError(located(path, f"can't be read: {error.strerror}.")) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(located(path, f"not valid TOML ({error}).")) from None
    train = values.get("train", {})
    if isinstance(train, dict):
        train = {**train, **{name: value for name, value in overrides.items() if value is not None}}
    try:
        return Config.model_validate({**values, "train": train})
    except ValidationError as error:
        raise ConfigError(_message(path, error)) from None


def _message(path: Path, error: ValidationError) -> str:
    first = error.errors()[0]
    found = "" if isinstance(first["input"], dict) else f"found {first['input']!r}: "
    field = ".".join(str(part) for part in first["loc"])
    return located(path, f"{found}{first['msg'][:1].lower()}{first['msg'][1:]}.", field=field)
