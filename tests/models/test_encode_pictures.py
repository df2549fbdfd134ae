"""Models encode pictures themselves, by the backbone that was recorded when they were trained."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
from PIL import Image

import vse_zoo
from vse_zoo import presets
from vse_zoo.errors import ConfigError, ImageError, PresetError
from vse_zoo.features import Backbone, PictureEncoder, backbones
from vse_zoo.features.fisher import FisherVectors
from vse_zoo.models import ContextAttentionVSE, TransportVSE, TwoWayNet
from vse_zoo.preprocessing import TextPreprocessor
from vse_zoo.sets import ItemSets

DIM = 6
TINY: dict[str, Any] = {"region_backbone": "tiny", "region_grid": (2, 2)}
RECORD = {"dataset": {"backbone": "tiny", "grid": [2, 2]}}


def attention(**options: Any) -> Any:
    return ContextAttentionVSE(TextPreprocessor({"en": ["a", "dog"]}), DIM, units=4, heads=2, word_dim=3, **options)


def transport(**options: Any) -> Any:
    return TransportVSE(TextPreprocessor({"en": ["a", "dog"]}), DIM, units=4, word_dim=3, **options)


def two_way(**options: Any) -> Any:
    sentences, text = FisherVectors(4, 4, components=1), TextPreprocessor({"en": ["a", "dog"]})
    return TwoWayNet((4, 7, 4), DIM, sentences.size, preprocessor=text, sentences=sentences, **options)


FAMILIES = [attention, transport, two_way]
every_family = pytest.mark.parametrize("family", FAMILIES)


def made(family: Callable[..., Any], **options: Any) -> Any:
    keras.utils.set_random_seed(1)
    model = family(**options)
    model.build()
    return model


@pytest.fixture(scope="module")
def pictures() -> list[np.ndarray]:
    draw = np.random.default_rng(0)
    return [draw.integers(0, 256, (20 + n, 30, 3), dtype=np.uint8) for n in range(5)]


@pytest.fixture
def photos(pictures: list[np.ndarray], tmp_path: Path) -> list[Path]:
    for number, pixels in enumerate(pictures):
        Image.fromarray(pixels).save(tmp_path / f"{number}.png")
    return sorted(tmp_path.glob("*.png"))


def numbers(encoded: Any) -> np.ndarray:
    return encoded.padded()[0] if isinstance(encoded, ItemSets) else encoded


@every_family
def test_pictures_are_encoded_by_their_regions(
    family: Callable[..., Any], pictures: list[np.ndarray], photos: list[Path], tiny_by_name: Backbone
) -> None:
    model = made(family, **TINY)
    regions = PictureEncoder(tiny_by_name).encode(pictures)
    np.testing.assert_array_equal(model.picture_regions(photos), regions)
    np.testing.assert_array_equal(model.picture_regions(photos[1]), regions[1])
    expected = numbers(model.encode_image(regions))
    for asked in (
        pictures,
        photos,
        iter(photos),
        tuple(map(str, photos)),
        [Image.fromarray(each) for each in pictures],
    ):
        # Batches of another size are multiplied in another order.
        np.testing.assert_allclose(numbers(model.encode_pictures(asked, batch_size=2)), expected, atol=1e-6)
    stacked = model.encode_pictures(np.stack([pictures[0]] * 3))
    assert len(stacked) == 3


@every_family
def test_one_picture_is_encoded_as_one_sentence_is(
    family: Callable[..., Any], pictures: list[np.ndarray], photos: list[Path], tiny_by_name: Backbone
) -> None:
    model = made(family, **TINY)
    expected = numbers(model.encode_pictures(pictures))
    for picture in (pictures[2], photos[2], str(photos[2]), Image.open(photos[2])):
        one = model.encode_pictures(picture)
        if model.similarity_kind == "pairwise":
            assert isinstance(one, ItemSets)
            assert len(one) == 1
        np.testing.assert_allclose(numbers(one).reshape(expected[2].shape), expected[2], atol=1e-6)


def test_another_backbone_may_be_given(pictures: list[np.ndarray], tiny_backbone: Backbone) -> None:
    model = made(attention)
    found = model.encode_pictures(pictures, backbone=tiny_backbone)
    np.testing.assert_array_equal(found, model.encode_image(PictureEncoder(tiny_backbone).encode(pictures)))
    assert model.picture_encoder(tiny_backbone) is model.picture_encoder(tiny_backbone)
    with pytest.raises(PresetError, match="ContextAttentionVSE: nothing records which backbone"):
        model.encode_pictures(pictures)
    with pytest.raises(ConfigError, match="tiny: gives regions of 6 numbers, the model was trained on 7"):
        made(lambda: TwoWayNet((4, 7, 4), 7, 9)).encode_pictures(pictures, backbone=tiny_backbone)


def test_errors_name_the_picture(photos: list[Path], tiny_by_name: Backbone) -> None:
    model = made(attention, **TINY)
    photos[3].write_bytes(b"no picture")
    for asked in (photos, photos[3]):
        with pytest.raises(ImageError, match=r"3\.png: can't be decoded as a picture"):
            model.encode_pictures(asked)
    with pytest.raises(ValueError, match="pictures: found none"):
        model.encode_pictures([])


@every_family
def test_a_preset_knows_its_backbone(
    family: Callable[..., Any], pictures: list[np.ndarray], tmp_path: Path, tiny_by_name: Backbone
) -> None:
    model = made(family)
    model.save_to_preset(tmp_path / "recorded", RECORD)
    loaded = vse_zoo.load(tmp_path / "recorded")
    assert (loaded.region_backbone, loaded.region_grid) == ("tiny", (2, 2))
    expected = numbers(model.encode_pictures(pictures, backbone=tiny_by_name))
    np.testing.assert_array_equal(numbers(loaded.encode_pictures(pictures)), expected)
    loaded.save_to_preset(tmp_path / "again")
    assert presets.metadata(tmp_path / "again") == RECORD
    assert "region_backbone" not in json.loads((tmp_path / "again" / "config.json").read_text())["config"]
    assert vse_zoo.load(tmp_path / "again").region_grid == (2, 2)


@every_family
def test_a_keras_file_knows_its_backbone(family: Callable[..., Any], tmp_path: Path) -> None:
    made(family, **TINY).save(tmp_path / "m.keras")
    loaded = keras.models.load_model(tmp_path / "m.keras")
    assert (loaded.region_backbone, loaded.region_grid) == ("tiny", (2, 2))
    assert "region_backbone" not in made(family).get_config()


@pytest.mark.parametrize(
    "record",
    [{}, {"dataset": "flickr8k"}, {"dataset": None}, {"dataset": {"backbone": 3, "grid": "3x3"}}],
)
def test_a_preset_without_a_readable_record_loads(record: dict[str, Any], tmp_path: Path) -> None:
    made(attention).save_to_preset(tmp_path / "m", record)
    loaded = vse_zoo.load(tmp_path / "m")
    assert loaded.region_backbone is None
    with pytest.raises(PresetError, match=r"nothing records which backbone .* Pass backbone=vse_zoo\.features\."):
        loaded.encode_pictures(np.zeros((4, 4, 3), np.uint8))


def test_a_given_record_goes_before_the_models_own(tmp_path: Path) -> None:
    other = {"dataset": {"backbone": "keras:MobileNetV2", "grid": [7, 7], "name": "mine"}}
    made(attention, **TINY).save_to_preset(tmp_path / "m", other)
    assert presets.metadata(tmp_path / "m") == other
    assert vse_zoo.load(tmp_path / "m").region_backbone == "keras:MobileNetV2"


def test_a_changed_grid_is_used(pictures: list[np.ndarray], monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(backbones, "recorded", lambda owner, *record: asked.append(record) or tiny(record[1]))
    model = made(attention, **TINY)
    assert model.picture_regions(pictures).shape == model.picture_regions(pictures).shape == (5, 4, DIM)
    model.region_grid = (1, 2)
    assert model.picture_regions(pictures).shape == (5, 2, DIM)
    assert asked == [("tiny", (2, 2)), ("tiny", (1, 2))]


def tiny(grid: tuple[int, int]) -> Backbone:
    pixels = keras.Input((16, 16, 3))
    network = keras.Model(pixels, keras.layers.Conv2D(DIM, 8, 8)(pixels))
    return Backbone("tiny", network, lambda x: x, image_size=16, grid=grid)


def test_the_backbone_is_no_part_of_the_model(
    pictures: list[np.ndarray], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tiny_backbone: Backbone
) -> None:
    model = made(attention, **TINY)
    before = [weight.path for weight in model.weights]
    monkeypatch.setattr(backbones, "get", lambda *asked: pytest.fail("loaded before a picture came"))
    model.save(tmp_path / "m.keras")
    model.save_to_preset(tmp_path / "m")
    vse_zoo.load(tmp_path / "m")
    monkeypatch.setattr(backbones, "get", lambda *asked: tiny_backbone)
    model.encode_pictures(pictures)
    assert [weight.path for weight in model.weights] == before
    model.save(tmp_path / "after.keras")
    assert (tmp_path / "after.keras").stat().st_size == (tmp_path / "m.keras").stat().st_size


@pytest.mark.parametrize("name", [name for name in presets.names() if name != "two_way_net_mnist"])
def test_the_shipped_presets_of_pictures_know_their_backbone(name: str) -> None:
    model = vse_zoo.load(name, load_weights=False)
    assert model.region_backbone == backbones.BUILT_IN
    rows, columns = model.region_grid
    assert 1 <= rows == columns <= 7
