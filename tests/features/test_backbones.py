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


@pytest.mark.parametrize("grid", [(7, 7), (3, 3), (1, 1), (2, 5)])
def test_built_in_grids(grid: tuple[int, int]) -> None:
    backbone = backbones.get("efficientnet_lite0", grid=grid)
    regions = backbone.regions(PIXELS)
    assert (regions.shape, regions.dtype) == ((2, grid[0] * grid[1], 1280), np.float32)
    assert backbone.boxes.shape == (grid[0] * grid[1], 4)
    whole = backbones.get("efficientnet_lite0").regions(PIXELS).reshape(2, 7, 7, 1280)
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
