"""The [optimizer] section: AdamW or SGD, and how the learning rate falls."""

from __future__ import annotations

from typing import Any, Literal

import keras
import tensorflow as tf
from pydantic import Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from vse_zoo.errors import ConfigError
from vse_zoo.training.configs.base import Section, TrainConfig

__all__ = ["OptimizerConfig", "WithOptimizer"]


class OptimizerConfig(Section):
    """AdamW, or SGD with Nesterov momentum.

    The rate falls by a cosine after a linear warm-up ("cosine"), by a factor once at an epoch ("step"), or by that
    factor each time so many epochs have passed ("staircase"). With ``gradient_accumulation_steps`` above 1 the weights
    change once in so many batches, by their mean gradient, which is clipped then.
    """

    kind: Literal["adamw", "sgd"] = "adamw"
    learning_rate: float = Field(2e-4, gt=0)
    momentum: float = Field(0.9, ge=0, lt=1)
    schedule: Literal["cosine", "step", "staircase"] = "step"
    warmup_share: float = Field(0.1, ge=0, lt=1)
    step_epoch: int = Field(15, gt=0)
    step_factor: float = Field(0.1, gt=0)
    weight_decay: float = Field(1e-6, ge=0)
    clip_norm: float = Field(2.0, ge=0)
    gradient_accumulation_steps: int = Field(1, gt=0)

    def optimizer(self, steps_per_epoch: int, epochs: int) -> keras.optimizers.Optimizer:
        """The optimiser for a run of that many batches an epoch and epochs.

        Raises:
            ConfigError: gradients are to be accumulated under a strategy, where Keras can't.
        """
        # Keras asks for the rate by the number of batches, also where it accumulates.
        rate = self._rate(steps_per_epoch, epochs)
        accumulated = self.gradient_accumulation_steps
        if accumulated > 1 and tf.distribute.has_strategy():
            problem = f"found {accumulated}, expected 1 under a strategy, where Keras can't accumulate."
            do = "Raise train.batch_size instead: a replica holds its share of a batch only."
            raise ConfigError(f"field 'optimizer.gradient_accumulation_steps': {problem} {do}")
        shared: dict[str, Any] = {
            "weight_decay": self.weight_decay or None,
            "global_clipnorm": self.clip_norm or None,
            "gradient_accumulation_steps": accumulated if accumulated > 1 else None,
        }
        if self.kind == "sgd":
            return keras.optimizers.SGD(rate, momentum=self.momentum, nesterov=True, **shared)
        optimizer = keras.optimizers.AdamW(rate, **{**shared, "weight_decay": self.weight_decay})
        # Decay would pull the temperature towards 1.
        optimizer.exclude_from_weight_decay(var_names=["log_temperature"])
        return optimizer

    def _rate(self, steps_per_epoch: int, epochs: int) -> keras.optimizers.schedules.LearningRateSchedule:
        if self.schedule == "step":
            values = [self.learning_rate, self.learning_rate * self.step_factor]
            return keras.optimizers.schedules.PiecewiseConstantDecay([self.step_epoch * steps_per_epoch], values)
        if self.schedule == "staircase":
            return keras.optimizers.schedules.ExponentialDecay(
                self.learning_rate, self.step_epoch * steps_per_epoch, self.step_factor, staircase=True
            )
        steps = steps_per_epoch * epochs
        warmup = int(steps * self.warmup_share)
        first = 0.0 if warmup else self.learning_rate
        return keras.optimizers.schedules.CosineDecay(
            first, max(1, steps - warmup), warmup_target=self.learning_rate, warmup_steps=warmup
        )


class WithOptimizer(Section):
    """A configuration whose run must be long enough for its schedule's step."""

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
