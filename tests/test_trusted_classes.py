"""Classes of somebody else's in a preset: loaded if the caller supplies them, refused otherwise."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

import vse_zoo
from vse_zoo import presets
from vse_zoo.errors import PresetError
from vse_zoo.losses import TripletLoss
from vse_zoo.models import TransportVSE, TwoWayNet, VSEModel
from vse_zoo.preprocessing import TextPreprocessor


@keras.saving.register_keras_serializable(package="mine")
class SoftLoss(TripletLoss):
    """A loss with a setting and a weight of its own."""

    def __init__(self, softness: float = 0.5, **options: Any) -> None:
        super().__init__(**options)
        self.softness = softness
        self.scale = self.add_weight(shape=(), initializer="ones", name="scale")

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "softness": self.softness}


@keras.saving.register_keras_serializable(package="mine")
class ShortPreprocessor(TextPreprocessor):
    """A preprocessor of one's own."""


@keras.saving.register_keras_serializable(package="mine")
class MyVSE(VSEModel):
    """A model written outside of the package, from `VSEModel` and layers of Keras."""

    loss_arguments = ("ranking_loss",)

    def __init__(
        self,
        preprocessor: Any,
        region_dim: int,
        units: int = 4,
        head: Any = None,
        ranking_loss: Any = None,
        **options: Any,
    ) -> None:
        super().__init__(preprocessor, region_dim, **options)
        self.units = units
        self.head = head or keras.layers.Dense(units, name="head")
        self.ranking_loss = ranking_loss or SoftLoss()
        self.words = keras.layers.Embedding(len(preprocessor.vocabulary("en")), units, name="words")

    def build(self, input_shape: Any = None) -> None:
        if not self.head.built:  # Keras builds it where it was saved built.
            self.head.build((None, None, self.region_dim))
        self.words.build((None, None))
        self.built = True

    def embed_image(self, regions: Any, region_mask: Any) -> Any:
        return keras.utils.normalize(keras.ops.mean(self.head(regions), axis=1))

    def embed_text(self, ids: Any, language: str) -> Any:
        return keras.ops.mean(self.words(ids), axis=1)

    def get_config(self) -> dict[str, Any]:
        parts = {name: getattr(self, name) for name in ("preprocessor", "head", "ranking_loss")}
        described = {name: keras.saving.serialize_keras_object(part) for name, part in parts.items()}
        return {**super().get_config(), "region_dim": self.region_dim, "units": self.units, **described}


class Unregistered(TwoWayNet):
    """A model that Keras wasn't told of."""


TRUSTED = (MyVSE, SoftLoss, ShortPreprocessor, keras.layers.Dense)


def mine(**options: Any) -> MyVSE:
    keras.utils.set_random_seed(2)
    model = MyVSE(ShortPreprocessor({"en": ["a", "dog"]}), 3, **options)
    model.build()
    return model


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trusted") / "mine"
    mine(ranking_loss=SoftLoss(0.25)).save_to_preset(folder)
    return folder


def test_a_model_of_ones_own_loads_with_its_parts(saved: Path) -> None:
    model, expected = vse_zoo.load(saved, trusted_classes=TRUSTED), mine()
    assert type(model) is MyVSE
    assert type(model.ranking_loss) is SoftLoss
    assert type(model.preprocessor) is ShortPreprocessor
    assert model.ranking_loss.softness == 0.25
    for one, other in zip(model.weights, expected.weights, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(model.encode_text(["a dog"]), expected.encode_text(["a dog"]))


def test_from_preset_trusts_its_own_class(saved: Path) -> None:
    model = MyVSE.from_preset(saved, trusted_classes=TRUSTED[1:])
    assert type(model) is MyVSE
    with pytest.raises(PresetError, match="found a MyVSE, expected a TwoWayNet"):
        TwoWayNet.from_preset(saved, trusted_classes=TRUSTED)


@pytest.mark.parametrize("missing", TRUSTED)
def test_each_class_must_be_trusted(saved: Path, missing: type) -> None:
    """A class that Keras knows, since it was registered or is Keras' own, isn't trusted for that."""
    expected = r"json.*found .*trusted_classes=\(TheClass,\)"
    with pytest.raises(PresetError, match=expected) as caught:
        vse_zoo.load(saved, trusted_classes=[cls for cls in TRUSTED if cls is not missing])
    assert repr(missing.__name__) in str(caught.value)
    with pytest.raises(PresetError, match=expected):
        vse_zoo.load(saved)


def test_the_losses_of_ones_own_model_are_replaced(saved: Path) -> None:
    model = vse_zoo.load(saved, trusted_classes=TRUSTED, ranking_loss=TripletLoss(0.5))
    assert type(model.ranking_loss) is TripletLoss
    assert len(model.weights) == len(mine().weights) - 1


def test_a_loss_of_ones_own_in_a_model_of_the_zoo(tmp_path: Path) -> None:
    model = TransportVSE(TextPreprocessor({"en": ["a"]}), 3, 4, 4, ranking_loss=SoftLoss(0.75))
    model.build()
    model.save_to_preset(tmp_path)
    assert TransportVSE.from_preset(tmp_path, trusted_classes=(SoftLoss,)).ranking_loss.softness == 0.75
    with pytest.raises(PresetError, match=r"config\.ranking_loss.*found class 'SoftLoss'"):
        TransportVSE.from_preset(tmp_path)


def test_a_class_that_is_not_registered(tmp_path: Path) -> None:
    keras.utils.set_random_seed(1)
    model = Unregistered([3], 4, 5)
    model.build()
    model.save_to_preset(tmp_path)
    loaded = vse_zoo.load(tmp_path, trusted_classes=Unregistered)
    assert type(loaded) is Unregistered
    x = np.ones((2, 4), "float32")
    np.testing.assert_array_equal(loaded.encode_x(x), model.encode_x(x))
    with pytest.raises(PresetError, match="found class 'Unregistered'"):
        vse_zoo.load(tmp_path)


def test_a_trusted_name_opens_no_door(saved: Path, tmp_path: Path) -> None:
    """Where Keras would look by another name than the trusted one: functions, code, modules."""
    config = json.loads((saved / "config.json").read_text())
    trusted = presets.allowed.registered_names(TRUSTED)
    for name in ("function", "__lambda__", "system", "MyVSE2"):
        bad = {"module": "os", "class_name": name, "config": "system", "registered_name": "mine>MyVSE"}
        with pytest.raises(PresetError, match=f"found class '{name}'"):
            presets.allowed.check_classes({"config": {**config["config"], "head": bad}}, tmp_path, trusted)
    dense = {"module": "keras.layers", "class_name": "Lambda", "config": {}, "registered_name": None}
    with pytest.raises(PresetError, match="found class 'Lambda'"):
        presets.allowed.check_classes(dense, tmp_path, trusted)


@pytest.mark.parametrize("classes", [("MyVSE",), (MyVSE, 3), (mine,), (int,)])
def test_what_is_no_class_of_keras_is_refused(saved: Path, classes: Any) -> None:
    with pytest.raises(TypeError, match=r"trusted_classes: found .*expected a class"):
        vse_zoo.load(saved, trusted_classes=classes)


def test_two_classes_of_one_name_are_refused(saved: Path) -> None:
    """As after a cell of a notebook was run again: the class that was passed isn't the one that Keras would make."""
    stale = type("MyVSE", (MyVSE,), {})
    other = keras.saving.register_keras_serializable(package="theirs")(type("Twice", (TwoWayNet,), {}))
    keras.saving.register_keras_serializable(package="theirs")(type("Twice", (TwoWayNet,), {}))
    for classes in ((other,), (stale, type("MyVSE", (TwoWayNet,), {}))):
        with pytest.raises(TypeError, match="trusted_classes: found two classes by the name"):
            vse_zoo.load(saved, trusted_classes=classes)
