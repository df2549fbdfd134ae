"""Small models with random weights, exported once."""

from __future__ import annotations

import io
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from PIL import Image

from vse_zoo.features import Backbone
from vse_zoo.features.fisher import FisherVectors, Mixture
from vse_zoo.models import ContextAttentionVSE, TransportVSE, TwoWayNet
from vse_zoo.preprocessing import TextPreprocessor
from vse_zoo.serving import Export, export_saved_model

VOCABULARIES = {"en": ["a", "dog", "cat"], "de": ["ein", "straße", "hund"]}
DIM = 6


@dataclass(frozen=True)
class Served:
    """A model, what was exported, and the SavedModel loaded again: ``ask(signature, **inputs)`` gives arrays."""

    model: Any
    export: Export
    loaded: Any

    def ask(self, signature: str, **inputs: Any) -> dict[str, np.ndarray]:
        found = self.loaded.signatures[signature](**{name: tf.constant(value) for name, value in inputs.items()})
        return {name: value.numpy() for name, value in found.items()}


def attention() -> ContextAttentionVSE:
    return ContextAttentionVSE(TextPreprocessor(VOCABULARIES, max_length=5), DIM, units=8, heads=2, word_dim=5)


def transport() -> TransportVSE:
    return TransportVSE(TextPreprocessor({"en": VOCABULARIES["en"]}), DIM, units=8, word_dim=5)


def baseline() -> TransportVSE:
    options: dict[str, Any] = {"transport_weight": 0.0, "aggregation": "image_text", "reduction": "sum"}
    return TransportVSE(TextPreprocessor({"en": VOCABULARIES["en"]}), DIM, units=8, word_dim=5, **options)


def matrices() -> TwoWayNet:
    return TwoWayNet((4, 7, 4), DIM, 9)


def fisher() -> TwoWayNet:
    random = np.random.default_rng(6)
    sentences = FisherVectors(5, 4, components=3)
    scales, gaussian = random.uniform(1, 2, (3, 4)), random.random((3, 4)) < 0.5
    mixtures = [Mixture(np.full(3, 1 / 3), random.normal(size=(3, 4)), scales, gaussian) for _ in range(2)]
    sentences.adapt(random.normal(size=(5, 4)), np.ones(5, bool), mixtures)
    text = TextPreprocessor({"en": VOCABULARIES["en"]})
    return TwoWayNet((4, 7, 4), DIM, sentences.size, preprocessor=text, sentences=sentences)


MODELS: dict[str, Callable[[], Any]] = {
    "attention": attention,
    "transport": transport,
    "baseline": baseline,
    "matrices": matrices,
    "fisher": fisher,
}


@pytest.fixture(scope="session")
def backbone(tiny_backbone: Backbone) -> Backbone:
    """32 pixels to 2 × 2 regions of 6 numbers."""
    return tiny_backbone


@pytest.fixture(scope="session")
def serve(tmp_path_factory: pytest.TempPathFactory, backbone: Backbone) -> Callable[[str], Served]:
    """Makes, exports and loads a model of `MODELS`, once."""
    folder, made = tmp_path_factory.mktemp("serving"), dict[str, Served]()

    def served(name: str) -> Served:
        if name not in made:
            keras.utils.set_random_seed(3)
            model = MODELS[name]()
            model.build()
            pictures = backbone if name in ("attention", "transport") else None
            export = export_saved_model(model, folder / name, backbone=pictures)
            made[name] = Served(model, export, tf.saved_model.load(str(export.path)))
        return made[name]

    return served


@pytest.fixture(scope="session")
def regions() -> np.ndarray:
    """(5, 4, 6)."""
    return np.random.default_rng(0).normal(size=(5, 4, DIM)).astype("float32")


@pytest.fixture(scope="session")
def counts() -> np.ndarray:
    """(5,) how many of the regions are real."""
    return np.array([4, 1, 3, 2, 4], "int32")


@pytest.fixture(scope="session")
def texts() -> list[str]:
    """Empty, unknown, long and accented sentences."""
    return ["a dog", "", "dog 🐕 unknown", "DOG a dog a dog a dog a dog", "Straße und Hund"]


@pytest.fixture(scope="session")
def photo() -> Callable[..., bytes]:
    """``photo(size, kind, **options)``: the contents of a picture file; waves, so that JPEG shows its errors."""

    def contents(size: tuple[int, int] = (70, 45), kind: str = "JPEG", **options: Any) -> bytes:
        y, x = np.mgrid[: size[1], : size[0]]
        waves = [128 + 120 * np.sin((x * (channel + 1) + y * 2) / math.tau) for channel in range(3)]
        buffer = io.BytesIO()
        Image.fromarray(np.stack(waves, 2).astype("uint8")).save(buffer, kind, **options)
        return buffer.getvalue()

    return contents
