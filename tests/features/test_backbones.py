"""Backbones by name, without a network: random weights saved to files, and tiny local presets."""

from __future__ import annotations

from pathlib import Path

import keras
import numpy as np
import pytest

from vse_zoo.errors import ConfigError, PresetError
from vse_zoo.features import backbones
from vse_zoo.features.keras_backbones import IMAGE_SIZES, application_names

PIXELS = np.random.default_rng(0).integers(0, 256, (2, 224, 224, 3), dtype=np.uint8)


def test_names() -> None:
    assert backbones.names()[0] == "efficientnet_lite0"
    assert "keras:MobileNetV2" in backbones.names()
    assert IMAGE_SIZES.keys() <= set(application_names())


@pytest.fixture(scope="module")
def whole() -> np.ndarray:
    """The built-in backbone's map of each picture, a region a cell."""
    return backbones.get("efficientnet_lite0").regions(PIXELS).reshape(2, 7, 7, 1280)


@pytest.mark.parametrize("grid", [(7, 7), (3, 3), (1, 1), (2, 5)])
def test_built_in_grids(whole: np.ndarray, grid: tuple[int, int]) -> None:
    backbone = backbones.get("efficientnet_lite0", grid=grid)
    regions = backbone.regions(PIXELS)
    assert (regions.shape, regions.dtype) == ((2, grid[0] * grid[1], 1280), np.float32)
    assert backbone.boxes.shape == (grid[0] * grid[1], 4)
    x0, y0, x1, y1 = np.rint(backbone.boxes[-1] * 7).astype(int)
    np.testing.assert_allclose(regions[:, -1], whole[:, y0:y1, x0:x1].mean((1, 2)), atol=1e-5)


@pytest.mark.parametrize("grid", [(8, 7), (0, 1)])
def test_impossible_grid(grid: tuple[int, int]) -> None:
    with pytest.raises(ConfigError, match="7×7"):
        backbones.get("efficientnet_lite0", grid=grid)


@pytest.mark.parametrize("name", ["nothing", "keras:Nothing", "kerashub:/no/such/folder"])
def test_unknown_names(name: str) -> None:
    with pytest.raises(PresetError):
        backbones.get(name)


def test_application_from_a_weights_file(tmp_path: Path) -> None:
    keras.utils.set_random_seed(0)
    network = keras.applications.MobileNetV2(include_top=False, weights=None, input_shape=(224, 224, 3))
    network.save_weights(tmp_path / "a.weights.h5")
    backbone = backbones.get("keras:MobileNetV2", weights=tmp_path / "a.weights.h5")
    expected = network(PIXELS / np.float32(127.5) - 1, training=False)
    np.testing.assert_allclose(backbone.regions(PIXELS), np.reshape(expected, (2, 49, 1280)), atol=1e-4)


def test_application_with_wrong_weights(tmp_path: Path) -> None:
    (tmp_path / "a.weights.h5").write_bytes(b"junk")
    for weights in (tmp_path / "a.weights.h5", tmp_path / "none.weights.h5"):
        with pytest.raises(PresetError, match="no weights from"):
            backbones.get("keras:MobileNetV2", weights=weights)


def test_failed_download_is_a_preset_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object, **kwargs: object) -> None:
        raise Exception("URL fetch failure")

    monkeypatch.setattr(keras.applications, "MobileNetV2", fail_with_name(fail))
    with pytest.raises(PresetError, match="URL fetch failure"):
        backbones.get("keras:MobileNetV2")


def fail_with_name(fail):
    fail.__module__ = keras.applications.MobileNetV2.__module__
    return fail


def test_keras_hub_preset_folder(tmp_path: Path) -> None:
    keras_hub = pytest.importorskip("keras_hub")
    network = keras_hub.models.ResNetBackbone(
        input_conv_filters=[64],
        input_conv_kernel_sizes=[7],
        stackwise_num_filters=[64, 6],
        stackwise_num_blocks=[1, 1],
        stackwise_num_strides=[1, 2],
        block_type="basic_block",
        image_shape=(None, None, 3),
    )
    converter = keras_hub.layers.ResNetImageConverter(image_size=(32, 32), scale=1 / 255.0)
    network.save_to_preset(tmp_path)
    converter.save_to_preset(tmp_path)
    backbone = backbones.get(f"kerashub:{tmp_path}", grid=(2, 2))
    pixels = PIXELS[:, :32, :32]
    feature_map = np.asarray(network(pixels / np.float32(255.0), training=False))
    expected = feature_map.reshape(2, 2, 2, 2, 2, 6).mean((2, 4)).reshape(2, 4, 6)
    np.testing.assert_allclose(backbone.regions(pixels), expected, atol=1e-5)


def test_a_layer_of_the_network_with_its_classifier(tmp_path: Path) -> None:
    keras.utils.set_random_seed(0)
    weights = tmp_path / "a.weights.h5"
    network = keras.applications.MobileNetV2(weights=None)
    network.save_weights(weights)
    scaled = PIXELS / np.float32(127.5) - 1

    vector = backbones.get("keras:MobileNetV2/predictions", weights=weights)
    assert (vector.name, vector.grid, vector.dim) == ("keras:MobileNetV2/predictions", (1, 1), 1000)
    np.testing.assert_array_equal(vector.boxes, [[0, 0, 1, 1]])
    expected = np.asarray(network(scaled, training=False))
    np.testing.assert_allclose(vector.regions(PIXELS), expected[:, None], atol=1e-6)

    whole = keras.Model(network.input, network.get_layer("out_relu").output)(scaled, training=False)
    mapped = backbones.get("keras:MobileNetV2/out_relu", weights=weights)
    np.testing.assert_allclose(mapped.regions(PIXELS), np.reshape(whole, (2, 49, 1280)), atol=1e-4)

    with pytest.raises(ConfigError, match="Choose a grid between 1×1 and 1×1"):
        backbones.get(vector.name, grid=(7, 7), weights=weights)
    with pytest.raises(PresetError, match=r"found no layer 'fc2', expected one of: .*, out_relu"):
        backbones.get("keras:MobileNetV2/fc2", weights=weights)


def test_vgg19_fc2_is_one_region_of_4096_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thin layers of VGG-19's names and last sizes stand in for its 574 MB."""

    def vgg19(include_top: bool, weights: str | None, input_shape: tuple[int, ...]) -> keras.Model:
        assert (include_top, weights, input_shape) == (True, "imagenet", (224, 224, 3))
        pixels = keras.Input(input_shape)
        x = keras.layers.AveragePooling2D(224)(pixels)
        x = keras.layers.Dense(4096, activation="relu", name="fc2")(keras.layers.Flatten()(x))
        return keras.Model(pixels, keras.layers.Dense(1000, name="predictions")(x))

    module = keras.applications.VGG19.__module__
    monkeypatch.setattr(keras.applications, "VGG19", vgg19)
    vgg19.__module__ = module
    backbone = backbones.get("keras:VGG19/fc2")
    regions = backbone.regions(PIXELS)
    assert (regions.shape, backbone.grid, backbone.name) == ((2, 1, 4096), (1, 1), "keras:VGG19/fc2")
    kernel = backbone._network.get_layer("fc2").kernel.numpy()
    mean = PIXELS.astype("float32").mean((1, 2))[:, ::-1] - [103.939, 116.779, 123.68]
    np.testing.assert_allclose(regions[:, 0], np.maximum(mean @ kernel, 0), atol=1e-3)


@pytest.mark.slow
def test_the_real_vgg19_has_fc2(monkeypatch: pytest.MonkeyPatch) -> None:
    build = keras.applications.VGG19

    def without_weights(**options: object) -> keras.Model:
        return build(**{**options, "weights": None})

    without_weights.__module__ = build.__module__
    monkeypatch.setattr(keras.applications, "VGG19", without_weights)
    assert backbones.get("keras:VGG19/fc2").regions(PIXELS[:1]).shape == (1, 1, 4096)


@pytest.mark.parametrize("name", ["efficientnet_lite0", "kerashub:resnet"])
def test_weights_are_for_keras_names_only(name: str, tmp_path: Path) -> None:
    with pytest.raises(PresetError, match=r"has weights of its own, found .*a.weights.h5"):
        backbones.get(name, weights=tmp_path / "a.weights.h5")


def towers(kind: str) -> tuple[keras.Model, keras.layers.Layer]:
    """A small network of another kind than one that maps pictures to a map or a vector, and its image converter."""
    hub = pytest.importorskip("keras_hub")
    sizes = {"hidden_dim": 8, "num_layers": 1, "num_heads": 2, "intermediate_dim": 8}
    pictures, words = {**sizes, "patch_size": 8, "image_shape": (32, 32, 3)}, {**sizes, "embedding_dim": 8}
    words |= {"vocabulary_size": 9, "max_sequence_length": 4}
    if kind == "clip":
        parts = hub.models.CLIPVisionEncoder(**pictures), hub.models.CLIPTextEncoder(**words)
        return hub.models.CLIPBackbone(*parts, projection_dim=8), hub.layers.CLIPImageConverter(image_size=(32, 32))
    if kind == "siglip":
        parts = hub.models.SigLIPVisionEncoder(**pictures), hub.models.SigLIPTextEncoder(**words)
        return hub.models.SigLIPBackbone(*parts), hub.layers.SigLIPImageConverter(image_size=(32, 32))
    if kind == "pyramid":
        network = hub.models.ResNetBackbone([64], [7], [64, 8, 8, 8], [1] * 4, [1, 2, 2, 2], "basic_block")
        pyramid = hub.models.RetinaNetBackbone(network, min_level=3, max_level=4, use_p5=False)
        return pyramid, hub.layers.RetinaNetImageConverter(image_size=(64, 64))
    pictures["mlp_dim"] = pictures.pop("intermediate_dim")
    side = 40 if kind == "vit of another size" else 32
    return hub.models.ViTBackbone(**pictures), hub.layers.ViTImageConverter(image_size=(side, side))


@pytest.mark.parametrize(
    ("kind", "problem"),
    [
        ("clip", "it takes images and token_ids, as a model of two towers does, and not pictures alone; a feature map"),
        ("siglip", "it takes images and token_ids, as a model of two towers does, and not pictures alone; a feature"),
        ("pyramid", r"its output is a dict of P3, P4\S*; a feature map .* is needed\. Choose a network of pictures"),
        ("vit", r"its output has shape \(1, 17, 8\); a feature map"),
        (
            "vit of another size",
            r"its network refuses pictures of 40×40 pixels \(.*shape=\(None, 32, 32, 3\).*\); a feat",
        ),
    ],
)
def test_presets_that_give_no_map_and_no_vector(tmp_path: Path, kind: str, problem: str) -> None:
    for part in towers(kind):
        part.save_to_preset(str(tmp_path))
    with pytest.raises(PresetError, match=rf"^kerashub:.*: {problem}"):
        backbones.get(f"kerashub:{tmp_path}")


def test_a_preset_of_text_is_no_backbone(tiny_bert: dict[str, Path]) -> None:
    with pytest.raises(PresetError, match=r"no preset of an image backbone can be loaded \(.*\)\. Check the name"):
        backbones.get(f"kerashub:{tiny_bert['keras']}")
