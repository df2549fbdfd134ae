"""The [text] section: what stands for the words of a sentence."""

from __future__ import annotations

from typing import Literal

from pydantic import model_validator
from pydantic_core import PydanticCustomError

from vse_zoo.training.configs.base import Section

__all__ = ["TextConfig"]


class TextConfig(Section):
    """Random word vectors, those of a file for each language, or the last layer of a contextual encoder."""

    kind: Literal["random", "vectors", "contextual"] = "random"
    vectors: dict[str, str] | None = None
    encoder: str | None = None
    trainable: bool | None = None
    precomputed: bool = False

    @property
    def trains(self) -> bool:
        """Whether the vectors or the encoder are trained with the rest; by default vectors are, an encoder is not."""
        return self.kind != "contextual" if self.trainable is None else self.trainable

    @model_validator(mode="after")
    def _fits_its_kind(self) -> TextConfig:
        fields = {"vectors": ("vectors", "trainable"), "contextual": ("encoder", "trainable", "precomputed")}
        allowed = fields.get(self.kind, ())
        if self.kind != "random" and not getattr(self, allowed[0]):
            raise PydanticCustomError("text", f'expected {allowed[0]}, since kind is "{self.kind}"')
        given = [name for name in ("vectors", "encoder", "trainable", "precomputed") if name in self.model_fields_set]
        if foreign := [name for name in given if name not in allowed]:
            raise PydanticCustomError("text", f'found {foreign[0]}, which kind "{self.kind}" does not have')
        if self.precomputed and self.trains:
            raise PydanticCustomError("text", "expected trainable = false, since precomputed states can't be trained")
        return self
