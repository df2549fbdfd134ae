"""Configuration of a language that a trained `vse_zoo.models.ContextAttentionVSE` learns."""

from __future__ import annotations

from pydantic import Field

from vse_zoo.training.configs.base import Section
from vse_zoo.training.configs.optimizer import WithOptimizer

__all__ = ["AddLanguageConfig"]


class LanguageConfig(Section):
    """Which language is added to which model."""

    model: str
    name: str
    minimum_count: int = Field(4, gt=0)


class AddLanguageConfig(WithOptimizer):
    """The language and the model must be named; what else is left out has a default."""

    language: LanguageConfig
