"""One photo and one sentence have one score, whichever part of the library compares them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from PIL import Image

import vse_zoo
from vse_zoo import presets
from vse_zoo.data import Dataset, Record, write_dataset
from vse_zoo.features import backbones
from vse_zoo.images import load_image
from vse_zoo.models import ContextAttentionVSE, TransportVSE
from vse_zoo.preprocessing import TextPreprocessor
from vse_zoo.search import Index
from vse_zoo.workflow.explain import explain_picture
from vse_zoo.workflow.export import export_run
from vse_zoo.workflow.features import add_features
from vse_zoo.workflow.index import index_photos

QUERY = "a red dog"
SUMS = 1e-6
"""Scores are sums of float32 in different orders; the features that go into them are the same to the bit."""
SERVED = 1e-5
"""In a SavedModel the network is compiled anew: a sum's last bit may decide to which float16 a feature is rounded."""


def attention() -> Any:
    return ContextAttentionVSE(TextPreprocessor({"en": ["a", "red", "dog"]}), 6, units=8, heads=2, word_dim=5)


def transport() -> Any:
    return TransportVSE(TextPreprocessor({"en": ["a", "red", "dog"]}), 6, units=8, word_dim=5, transport_weight=0.4)


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    """As a phone stores it: much larger than what the model sees, and on its side."""
    pixels = np.random.default_rng(0).integers(0, 256, (9, 12, 3), dtype=np.uint8)
    exif = Image.Exif()
    exif[0x0112] = 6
    (tmp_path / "photos").mkdir()
    Image.fromarray(pixels).resize((400, 300)).save(tmp_path / "photos" / "dog.jpg", exif=exif)
    return tmp_path / "photos" / "dog.jpg"


def as_dataset(photo: Path, backbone: Any, folder: Path) -> Dataset:
    """What `vse-zoo features` and so training, evaluation and reports have of the photo, and of others."""
    other = photo.parent.parent / "others"
    other.mkdir()
    names = ["a.png", photo.name, "b.png"]
    Image.new("RGB", (9, 9), "red").save(other / names[0])
    Image.new("RGB", (9, 9), "blue").save(other / names[2])
    (other / photo.name).write_bytes(photo.read_bytes())
    source = {"kind": "folder", "root": str(other)}
    records = [Record(name, "test", {"en": [QUERY]}) for name in names]
    return add_features(write_dataset(folder, records, name="n", image_source=source, languages=("en",)), backbone)


def searched(photo: Path, preset: Path, folder: Path) -> tuple[float, float | None]:
    """The score in the results of a search, and on its page, where photos can be explained."""
    index_photos(photo.parent, folder, str(preset))
    with Index.open(folder) as index:
        found = index.search_text(QUERY).results[0].score
        explaining = pytest.importorskip("vse_zoo.search.web.explaining")
        seen = explaining.look(index.encoder, load_image(photo, index.settings.image_size))
        return found, explaining.explain(index.encoder, seen, QUERY).score


def served(photo: Path, preset: Path, folder: Path) -> tuple[np.ndarray, float]:
    """What a server answers: the photo's vectors, and the score."""
    found = export_run(str(preset), folder)
    ask = tf.saved_model.load(str(found.path)).signatures
    image = ask["encode_image_bytes"](image=tf.constant([photo.read_bytes()]))
    text = ask["encode_text_en"](text=tf.constant([QUERY]))
    sides = {"image": image["embedding"], "text": text["embedding"]}
    counts = {name: side[name] for side in (image, text) for name in side if name.startswith("n_")}
    return image["embedding"].numpy(), float(ask["similarity"](**sides, **counts)["scores"][0, 0])


@pytest.mark.parametrize("create", [transport, pytest.param(attention, marks=pytest.mark.slow)])
def test_every_part_gives_the_same_score(
    create: Callable[[], Any], photo: Path, tmp_path: Path, tiny_by_name: Any
) -> None:
    keras.utils.set_random_seed(1)
    model = create()
    model.build()
    presets.save(model, tmp_path / "preset", {"dataset": {"backbone": "tiny", "grid": [2, 2]}})
    model = vse_zoo.load(tmp_path / "preset")
    check(model, photo, tmp_path / "preset", tmp_path, tiny_by_name)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["context_attention_flickr8k_en_de", "optimal_transport_flickr8k_en"])
def test_the_shipped_presets_give_one_score(name: str, photo: Path, tmp_path: Path) -> None:
    model = vse_zoo.load(name)
    backbone = backbones.get(model.region_backbone, model.region_grid)
    check(model, photo, presets.resolve(name), tmp_path, backbone)


def check(model: Any, photo: Path, preset: Path, folder: Path, backbone: Any) -> None:
    encoded, text = model.encode_pictures([photo]), model.encode_text([QUERY])
    expected = float(model.similarity(encoded, text)[0, 0])
    regions = model.picture_regions(photo)

    dataset = as_dataset(photo, backbone, folder / "data")
    stored, mask = dataset.regions(np.array([1]))
    assert stored.dtype == np.float16
    np.testing.assert_array_equal(stored[0].astype(np.float32), regions)
    assert model.similarity(model.encode_image(stored, mask), text)[0, 0] == pytest.approx(expected, abs=SUMS)

    for score in searched(photo, preset, folder / "index"):
        assert score == pytest.approx(expected, abs=SUMS)

    if hasattr(model, "explain"):
        explanation = explain_picture(str(preset), str(photo), QUERY, folder / "e.html")
        assert explanation.alignment.score == pytest.approx(expected, abs=SUMS)
        assert explanation.image.size == (300, 400)

    vectors, score = served(photo, preset, folder / "served")
    own = encoded.padded()[0] if hasattr(encoded, "padded") else encoded
    np.testing.assert_allclose(vectors, own, atol=SERVED)
    assert score == pytest.approx(expected, abs=SERVED)
