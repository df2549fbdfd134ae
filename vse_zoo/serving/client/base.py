"""What a client of a served model offers, whichever way it asks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vse_zoo.errors import DataError, VSEZooError
from vse_zoo.sets import ItemSets, joined

__all__ = ["Client", "ServingError"]

Arrays = Mapping[str, NDArray[Any]]


class ServingError(VSEZooError):
    """A server that can't be reached, refuses a request, or answers with something else than was asked for."""


class Client(ABC):
    """Encodes and compares by a server; subclasses send the requests.

    Args:
        model: the name that the model is served by.
        timeout: seconds that a request may take.
        batch_size: rows a request; at most ``max_batch_size`` of the server's batching file.
    """

    def __init__(self, model: str, timeout: float = 10.0, batch_size: int = 128) -> None:
        self.model = model
        self.timeout = timeout
        self.batch_size = batch_size

    @abstractmethod
    def predict(self, signature: str, inputs: Arrays) -> dict[str, NDArray[Any]]:
        """Calls a signature: named arrays in, named arrays out; a `ServingError` where that fails."""

    def encode_texts(self, texts: Sequence[str], language: str = "en") -> Any:
        """(N, E) vectors of N sentences; their `ItemSets`, if the model compares words with regions."""
        if isinstance(texts, str) or not len(texts):
            raise DataError(f"texts: found {texts!r}, expected a list of at least one sentence.")
        return self._encode(f"encode_text_{language}", {"text": np.array(texts, object)})

    def encode_images(self, regions: ArrayLike, n_regions: ArrayLike | None = None) -> Any:
        """(N, E) vectors, or `ItemSets`, of images.

        Args:
            regions: (N, R, D) features.
            n_regions: (N,) how many are real; all by default.
        """
        regions = np.asarray(regions, np.float32)
        if regions.ndim != 3 or not regions.size:
            raise DataError(f"regions: found shape {regions.shape}, expected (images, regions, numbers), none empty.")
        counts = np.full(len(regions), regions.shape[1]) if n_regions is None else np.asarray(n_regions)
        if counts.shape != (len(regions),):
            raise DataError(f"n_regions: found shape {counts.shape}, expected ({len(regions)},).")
        real = np.arange(regions.shape[1]) < counts[:, None]
        if not np.isfinite(regions[real]).all():
            raise DataError("regions: found NaN or infinite numbers.")
        # JSON has no way to write them, and padding does not count.
        regions = np.where(real[:, :, None], regions, np.float32(0))
        return self._encode("encode_image", {"regions": regions, "n_regions": counts.astype(np.int32)})

    def encode_pictures(self, pictures: Sequence[bytes]) -> Any:
        """(N, E) vectors, or `ItemSets`, of the contents of N JPEG or PNG files."""
        if not len(pictures) or not isinstance(pictures[0], bytes):
            raise DataError("pictures: expected a list of at least one file's contents.")
        return self._encode("encode_image_bytes", {"image": np.array(pictures, object)})

    def similarity(self, images: Any, texts: Any) -> NDArray[np.float32]:
        """Scores (N, M) of what the encode methods gave."""
        found = self.predict("similarity", {**_side("image", "n_regions", images), **_side("text", "n_words", texts)})
        scores = np.asarray(found["scores"], np.float32)
        if scores.shape != (len(images), len(texts)):
            problem = f"found scores of shape {scores.shape}, expected {(len(images), len(texts))}."
            raise ServingError(f"{self.model}: {problem} Does the server join requests for it (--enable_batching)?")
        return scores

    def _encode(self, signature: str, inputs: Arrays) -> Any:
        rows = len(next(iter(inputs.values())))
        starts = range(0, rows, self.batch_size)
        chunks = [{name: value[i : i + self.batch_size] for name, value in inputs.items()} for i in starts]
        parts = [_encoded(self.predict(signature, chunk)) for chunk in chunks]
        if sum(map(len, parts)) != rows:
            raise ServingError(f"{self.model}: found {sum(map(len, parts))} rows, expected {rows}.")
        return joined(parts)


def _encoded(found: Arrays) -> Any:
    embedding = np.asarray(found["embedding"], np.float32)
    counts = [value for name, value in found.items() if name.startswith("n_")]
    if not counts:
        return embedding
    return ItemSets.of(embedding, np.arange(embedding.shape[1]) < np.asarray(counts[0])[:, None])


def _side(name: str, count: str, items: Any) -> dict[str, NDArray[Any]]:
    if not isinstance(items, ItemSets):
        return {name: np.asarray(items, np.float32)}
    vectors, mask = items.padded()
    return {name: vectors, count: mask.sum(axis=1).astype(np.int32)}
