"""What the configurations of models of pictures and captions share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from vse_zoo.data import Dataset, PairBatches
from vse_zoo.preprocessing import TextPreprocessor
from vse_zoo.training.configs.base import Section
from vse_zoo.training.configs.precision import PrecisionTrainConfig

__all__ = ["CaptionTrainConfig", "EncoderConfig"]

Tokenize = Callable[[Sequence[str], str], Any]


class EncoderConfig(Section):
    """Sizes of the encoders."""

    units: int = Field(512, gt=0)
    word_dim: int | None = Field(300, gt=0)
    dropout: float = Field(0.0, ge=0, lt=1)
    word_skip: bool = False

    @field_validator("word_skip")
    @classmethod
    def _same_size(cls, word_skip: bool, info: ValidationInfo) -> bool:
        found = {name: info.data.get(name) for name in ("word_dim", "units")}
        if word_skip and None not in found.values() and found["word_dim"] != found["units"]:
            raise PydanticCustomError("skip", "expected word_dim to be units, found {word_dim} and {units}", found)
        return word_skip


class CaptionTrainConfig(PrecisionTrainConfig):
    """What is trained on, for how long, from which seed."""

    languages: tuple[str, ...] | None = None
    captions: Literal["all", "one"] = "all"
    minimum_count: int = Field(4, gt=0)
    max_length: int = Field(100, gt=0)
    length_pool: int = Field(32, gt=0)
    views: bool = False

    def data(self, dataset: Dataset) -> tuple[TextPreprocessor, PairBatches]:
        """The vocabulary of the training captions, and batches of the training split."""
        preprocessor = self.vocabulary(dataset)
        return preprocessor, self.batches(dataset, preprocessor.ragged)

    def vocabulary(self, dataset: Dataset) -> TextPreprocessor:
        """The vocabulary of the training captions."""
        captions = {language: dataset.captions("train", language)[0] for language in self.languages_of(dataset)}
        return TextPreprocessor.from_captions(captions, self.minimum_count, self.max_length)

    def batches(self, dataset: Dataset, tokenize: Tokenize, states: Mapping[str, Path] | None = None) -> PairBatches:
        """Batches of the training split; ``tokenize`` and ``states`` as of `PairBatches`."""
        return PairBatches(
            dataset,
            "train",
            tokenize,
            self.languages_of(dataset),
            self.batch_size,
            captions=self.captions,
            seed=self.seed,
            length_pool=self.length_pool,
            states=states,
            views=self.views,
        )

    def languages_of(self, dataset: Dataset) -> tuple[str, ...]:
        """The languages that are trained on."""
        return self.languages or dataset.languages
