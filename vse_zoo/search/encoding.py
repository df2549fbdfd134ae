"""Photos and sentences to vectors, by a preset and the backbone that it was trained on."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vse_zoo import presets
from vse_zoo.errors import PresetError, located
from vse_zoo.features import PictureEncoder
from vse_zoo.images import Picture

__all__ = ["Encoder"]

_KEPT = 256
"""Sentences that needn't be encoded again."""


class Encoder:
    """A preset's model and its backbone; each is loaded when it is first needed.

    Args:
        preset: a built-in name, a preset or run folder, or ``hf://user/repo``.

    Raises:
        PresetError: later, where there is no such preset, it takes no sentences, it doesn't say where its regions
            come from, or its score can't be searched by MaxSim.
    """

    def __init__(self, preset: str | Path) -> None:
        self.preset = preset
        self._texts = lru_cache(_KEPT)(self._encode_text)

    @cached_property
    def model(self) -> Any:
        """The model."""
        model = presets.load(self.preset)
        if not model.languages:
            raise PresetError(located(self.preset, "its model takes no sentences, so that photos can't be searched."))
        if model.similarity_kind == "pairwise" and model.alignment.aggregation != "text_image":
            problem = "its score adds every region's best word; only every word's best region can be searched."
            raise PresetError(located(self.preset, problem))
        return model

    @property
    def pictures(self) -> PictureEncoder:
        """What turns pixels into the regions that the model was trained on."""
        try:
            encoder: PictureEncoder = self.model.picture_encoder()
        except PresetError as error:
            raise PresetError(located(self.preset, str(error))) from error
        return encoder

    @property
    def similarity(self) -> str:
        """ "embedding" or "pairwise"."""
        return str(self.model.similarity_kind)

    @property
    def image_size(self) -> int:
        """Side of the square that the backbone sees."""
        return self.pictures.image_size

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Of a photo's vectors: (E,), or (R, E) of a pairwise model."""
        size = self.image_size
        return self.encode(np.zeros((1, size, size, 3), np.uint8)).shape[1:]

    def encode(self, pictures: Sequence[Picture] | NDArray[np.uint8]) -> NDArray[np.float32]:
        """Pictures, or pixels (B, S, S, 3), to vectors (B, *shape)."""
        found = self.model.encode_pictures(pictures, batch_size=len(pictures))
        if self.similarity == "embedding":
            return np.asarray(found)
        return found.items.reshape(len(found), -1, found.items.shape[1])

    def encode_text(self, text: str, language: str) -> NDArray[np.float32]:
        """A sentence's vector (E,), or its words' vectors (W, E) of a pairwise model; can't be written to."""
        return self._texts(text, language)

    def _encode_text(self, text: str, language: str) -> NDArray[np.float32]:
        found = self.model.encode_text(text, language)
        vectors = np.asarray(found if self.similarity == "embedding" else found.items)
        vectors.flags.writeable = False  # who asks again gets the same array
        return vectors

    def levels(self, scores: NDArray[np.floating], vectors: NDArray[np.float32]) -> NDArray[np.floating]:
        """A query's scores (n,) so that they compare with those of others: sums over words are divided by the words."""
        summed = self.similarity == "pairwise" and self.model.alignment.reduction == "sum"
        return scores / len(vectors) if summed else scores
