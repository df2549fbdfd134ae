"""Discovery: every module, every public name and every class registered with Keras, and an example of each kind."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import vse_zoo
from vse_zoo.features.fisher import FisherVectors, Mixture
from vse_zoo.losses.base import BatchLoss
from vse_zoo.models import VSEModel
from vse_zoo.preprocessing import TextPreprocessor

BATCH, ITEMS, DIM, HEADS = 4, 5, 6, 2
_OPTIONS = ("reverse", "training", "step", "feasible", "return_weights", "return_plans")
LANGUAGES = {"en": ["a", "dog"], "de": ["ein", "hund"]}

# Sizes, or what makes them, for constructor arguments without default; a new class is covered if it uses these names.
SIZES: dict[str, Any] = {
    "units": 4,
    "heads": HEADS,
    "attention_dim": 3,
    "context_dim": 3,
    "vocabulary_size": 9,
    "word_dim": 5,
    "region_dim": DIM,
    "vocabularies": LANGUAGES,
    "pieces": ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "d", "##og"],
    "languages": tuple(LANGUAGES),
    "backbone": lambda: importlib.import_module("keras_hub").models.BertBackbone(12, 1, 2, 4, 6),
    "start_id": 2,
    "end_id": 3,
    "layer_sizes": (4, 6, 4),
    "x_dim": DIM,
    "y_dim": 2 * 2 * 3 * 5,
    "components": 3,
}


def modules() -> Iterator[ModuleType]:
    """Every module of the package."""
    yield vse_zoo
    for found in pkgutil.walk_packages(vse_zoo.__path__, "vse_zoo."):
        if not found.name.endswith(".__main__"):
            yield importlib.import_module(found.name)


def public() -> dict[str, Any]:
    """Every name in an ``__all__``, by where it is defined."""
    named = [(module, name) for module in modules() for name in getattr(module, "__all__", ())]
    return {f"{module.__name__}.{name}": getattr(module, name, None) for module, name in named}


def registered() -> dict[str, type]:
    """Every class registered under the package's name."""
    list(modules())
    objects = keras.saving.get_custom_objects()
    return {name.split(">")[1]: value for name, value in sorted(objects.items()) if name.startswith("vse_zoo>")}


def create(cls: type, **arguments: Any) -> Any:
    """An object of the class from its defaults and `SIZES`; weights are drawn from a fixed seed."""
    keras.utils.set_random_seed(1)
    parameters = inspect.signature(cls).parameters
    named = [name for name, each in parameters.items() if each.default is each.empty and name in SIZES]
    required = {name: size() if callable(size := SIZES[name]) else size for name in named}
    if issubclass(cls, keras.Model):
        required |= {name: SIZES[name] for name in parameters if name in SIZES}
        required |= _text(cls)
    instance = cls(**required, **arguments)
    if isinstance(instance, keras.Model):
        instance.build()
    return _adapted(instance) if isinstance(instance, FisherVectors) else instance


def _text(cls: type) -> dict[str, Any]:
    """A preprocessor and, for a model that takes Fisher vectors, the layer that computes them."""
    if "sentences" not in inspect.signature(cls).parameters:
        return {"preprocessor": TextPreprocessor(LANGUAGES)}
    sentences = _adapted(FisherVectors(4, 5, components=3))
    return {"preprocessor": TextPreprocessor({"en": LANGUAGES["en"]}), "sentences": sentences}


def _adapted(sentences: FisherVectors) -> FisherVectors:
    random, grid = np.random.default_rng(6), (sentences.components, sentences.word_dim)
    scales, gaussian, words = random.uniform(1, 2, grid), random.random(grid) < 0.5, sentences.vocabulary_size
    mixtures = [Mixture(np.full(grid[0], 1 / grid[0]), random.normal(size=grid), scales, gaussian) for _ in range(2)]
    sentences.adapt(random.normal(size=(words, grid[1])), np.ones(words, bool), mixtures)
    return sentences


def ids(count: int = ITEMS) -> np.ndarray:
    """Word ids, 0 = padding, of different lengths; row 1 has one word only."""
    lengths = np.array([count, 1, 3, 2])[:, None]
    words = np.random.default_rng(2).integers(1, 4, (BATCH, count)).astype("int32")
    return np.where(np.arange(count) < lengths, words, 0)


def items() -> tuple[np.ndarray, np.ndarray]:
    """Items and the mask of the real ones."""
    return np.random.default_rng(3).normal(size=(BATCH, ITEMS, DIM)).astype("float32"), ids() > 0


@dataclass(frozen=True)
class Kind:
    """How the objects of a kind are called.

    ``call(object, inputs)`` gives tensors; ``inputs()`` an example; ``padded(inputs)`` the same with more padding, or
    None where there is nothing to pad.
    """

    name: str
    holds: Callable[[type], bool]
    inputs: Callable[[], dict[str, Any]]
    call: Callable[[Any, dict[str, Any]], Any]
    padded: Callable[[dict[str, Any]], dict[str, Any]] | None = None


def arguments(cls: type) -> list[str]:
    """The names of a layer's call arguments."""
    return list(inspect.signature(cls.call).parameters)[1:] if hasattr(cls, "call") else []


def _inputs(cls: type) -> list[str]:
    """The call arguments that are neither masks nor options."""
    return [name for name in arguments(cls) if name not in _OPTIONS and not name.endswith("mask")]


def _call(thing: Any, inputs: dict[str, Any]) -> Any:
    return thing(**inputs)


def _pad(array: Any, by: int = 3, value: float = 7.0) -> np.ndarray:
    array = np.asarray(array)
    fill = False if array.dtype == bool else 0 if array.dtype == np.int32 else value
    widths = [(0, 0), (0, by), *([(0, 0)] * (array.ndim - 2))]
    return np.pad(array, widths, constant_values=fill)


def _pad_each(inputs: dict[str, Any]) -> dict[str, Any]:
    return tf.nest.map_structure(_pad, inputs)


def is_layer(cls: type) -> bool:
    """Whether it is a layer and no model."""
    return issubclass(cls, keras.layers.Layer) and not issubclass(cls, keras.Model)


def _layer_kind(names: str, inputs: Callable[[], dict[str, Any]], padded: Any = None) -> Kind:
    holds = lambda cls: is_layer(cls) and _inputs(cls) == names.split(", ")  # noqa: E731
    return Kind(f"layer over {names}", holds, inputs, _call, padded)


def _scores() -> dict[str, Any]:
    scores = np.random.default_rng(4).uniform(-1, 1, (BATCH, BATCH)).astype("float32")
    rows, columns = np.array([True, True, False, True]), np.array([True, True, True, False])
    return {"scores": scores, "ids": np.array([1, 2, 3, 1], "int32"), "row_mask": rows, "column_mask": columns}


def _heads() -> dict[str, Any]:
    heads = np.random.default_rng(5).normal(3, 0.8, (2, BATCH, HEADS, DIM)).astype("float32")
    return {"heads": heads[0], "other_heads": heads[1], "mask": np.array([True, True, False, True])}


def _sets() -> dict[str, Any]:
    (regions, mask), sentences = items(), ids(4)
    words = np.random.default_rng(8).normal(size=(*sentences.shape, DIM)).astype("float32")
    unit = [vectors / np.linalg.norm(vectors, axis=2, keepdims=True) for vectors in (regions, words)]
    return {"regions": unit[0], "words": unit[1], "regions_mask": mask, "words_mask": sentences > 0}


def _vectors(*names: str) -> Callable[[], dict[str, Any]]:
    rows = np.random.default_rng(7).normal(0.2, 1, (len(names), 12, DIM)).astype("float32")
    return lambda: dict(zip(names, rows, strict=True))


def _measure(metric: Any, inputs: dict[str, Any]) -> Any:
    metric.reset_state()
    if hasattr(metric, "fit_state"):
        metric.reset_fit()
        metric.fit_state(**inputs)
    metric.update_state(**inputs)
    return metric.result()


def _metric_kind(*names: str) -> Kind:
    return Kind(
        f"metric of {', '.join(names)}",
        lambda cls: (
            issubclass(cls, keras.metrics.Metric)
            and list(inspect.signature(cls.update_state).parameters)[1:] == [*names, "sample_weight"]
        ),
        _vectors(*names),
        _measure,
    )


def batch() -> dict[str, Any]:
    """A batch by the batch contract."""
    regions, mask = items()
    return {
        "regions": regions,
        "region_mask": mask,
        "text": {language: ids() for language in LANGUAGES},
        "text_mask": {"en": np.ones(BATCH, bool), "de": np.array([True, False, True, True])},
        "image_id": np.array([4, 2, 4, 1], "int32"),
    }


def _pad_batch(inputs: dict[str, Any]) -> dict[str, Any]:
    return {**inputs, **_pad_each({name: inputs[name] for name in ("regions", "region_mask", "text")})}


KINDS = [
    _layer_kind("items", lambda: dict(zip(("items", "mask"), items(), strict=True)), _pad_each),
    _layer_kind("regions", lambda: dict(zip(("regions", "mask"), items(), strict=True)), _pad_each),
    _layer_kind("ids", lambda: {"ids": ids()}, _pad_each),
    _layer_kind("scores, ids", _scores),
    _layer_kind("heads, other_heads", _heads),
    _layer_kind("regions, words", _sets, _pad_each),
    _layer_kind("inputs", _vectors("inputs")),
    _layer_kind("activations, mirrored", _vectors("activations", "mirrored")),
    _layer_kind("vectors", _vectors("vectors")),
    _layer_kind("vectors, other_vectors", _vectors("vectors", "other_vectors")),
    _metric_kind("h"),
    _metric_kind("h", "g"),
    Kind("regularizer", lambda cls: issubclass(cls, keras.regularizers.Regularizer), _vectors("gamma"), _call),
    Kind("model", lambda cls: issubclass(cls, VSEModel), batch, lambda model, inputs: model(inputs), _pad_batch),
    Kind(
        "preprocessor",
        lambda cls: not issubclass(cls, keras.layers.Layer) and {"words", "ragged"} <= set(dir(cls)),
        lambda: {"texts": ["a dog", "", "🐶"], "language": "en"},
        _call,
    ),
]


def kind_of(cls: type) -> Kind:
    """The kind of a registered class, or a failure that says how to add one."""
    for kind in KINDS:
        if kind.holds(cls):
            return kind
    known = ", ".join(kind.name for kind in KINDS)
    pytest.fail(
        f"{cls.__name__}, registered with Keras, fits no kind of the contract tests ({known}). Name its call arguments "
        f"as one of them does, or add a Kind to tests/contract/conftest.py; got call arguments {arguments(cls)}."
    )


def tensors(value: Any) -> Any:
    """The arrays of a nested structure as tensors."""
    return tf.nest.map_structure(lambda part: tf.constant(part) if isinstance(part, np.ndarray) else part, value)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Gives ``cls``, ``plain_layer_class``, ``public_name`` and their like all that are discovered."""
    classes = registered()
    layers = {name: cls for name, cls in classes.items() if issubclass(cls, keras.layers.Layer)}
    found: dict[str, dict[str, Any]] = {
        "cls": classes,
        "layer_class": layers,
        "plain_layer_class": {name: cls for name, cls in layers.items() if is_layer(cls)},
        "loss_class": {name: cls for name, cls in layers.items() if issubclass(cls, BatchLoss)},
        "model_class": {name: cls for name, cls in layers.items() if issubclass(cls, keras.Model)},
    }
    for argument, values in found.items():
        if argument in metafunc.fixturenames:
            metafunc.parametrize(argument, list(values.values()), ids=list(values))
    if "public_name" in metafunc.fixturenames:
        metafunc.parametrize("public_name", sorted(public()))


def example(cls: type, **arguments: Any) -> tuple[Kind, Any, dict[str, Any]]:
    """Its kind, an object of it, built, and inputs for it."""
    kind = kind_of(cls)
    thing, inputs = create(cls, **arguments), tensors(kind.inputs())
    kind.call(thing, inputs)
    return kind, thing, inputs


def floats(structure: Any) -> list[Any]:
    """The float tensors of a nested structure."""
    return [part for part in tf.nest.flatten(structure) if hasattr(part, "dtype") and "float" in str(part.dtype)]


@pytest.fixture
def contract() -> ModuleType:
    """This module, for tests: they can't import it."""
    return sys.modules[__name__]
