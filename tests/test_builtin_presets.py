"""Built-in presets: each loads and encodes; golden slices were printed by the model that was evaluated for its card."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import vse_zoo
from vse_zoo import presets
from vse_zoo.registry import saved_models

PIXELS = np.random.default_rng(0).random((2, 392)).astype("float32")
HALVES = PIXELS / np.linalg.norm(PIXELS, axis=1, keepdims=True)
REGIONS = np.random.default_rng(0).random((1, 9, 1280)).astype("float32")
GOLDEN = {
    "context_attention_flickr8k_en_de": {
        "image": [0.032018, 0.019484, -0.026776, 0.024795],
        "ein Hund am Strand": [0.065092, 0.000383, 0.039488, 0.025977],
        "a dog on the beach": [0.084128, 0.023356, -0.003794, -0.005306],
    },
    "optimal_transport_flickr8k_en": {
        "first region": [0.0017, -0.123059, 0.026836, 0.107694],
        "first word": [-0.020665, 0.022451, -0.033952, 0.01201],
    },
    "optimal_transport_flickr8k_en_de": {
        "first region": [-0.015169, -0.086395, 0.033284, 0.092125],
        "first word": [-0.014668, -0.006668, 0.044409, -0.00749],
        "erstes Wort": [0.005307, -0.024258, 0.053744, 0.023097],
    },
    "context_attention_scenes": {
        "image": [-0.035487, 0.032676, -0.023339, 0.065053],
        "english": [0.010592, -0.010671, 0.050871, 0.022477],
        "german": [0.014303, -0.03819, 0.05778, 0.00925],
    },
    "optimal_transport_scenes": {
        "image": [0.039294, -0.007586, 0.023188, 0.036608],
        "english": [-0.077229, 0.150059, 0.040725, 0.118703],
        "german": [-0.088909, 0.099766, 0.025739, 0.109985],
    },
    "two_way_net_scenes": {
        "image": [-0.011299, -0.02256, -0.031538, -0.078053],
        "english": [-0.156644, -0.007778, 0.052291, -0.068498],
    },
    "two_way_net_mnist": {
        "left half": [-0.037399, -0.453504, 0.107299, -0.675702],
        "right half": [0.663555, -0.674247, 0.162036, -0.86528],
        "reconstructed": [0.014733, 0.010671, 0.021981, 0.044408],
    },
    "two_way_net_flickr8k": {
        "image": [-0.028882, 0.00209, -0.010908, 0.033447],
        "a dog on the beach": [0.04197, -0.005575, 0.065244, 0.02473],
    },
}


def english(model: Any) -> dict[str, np.ndarray]:
    return {"image": model.encode_image(REGIONS)[0], "a dog on the beach": model.encode_text("a dog on the beach")}


def attention(model: Any) -> dict[str, np.ndarray]:
    return {**english(model), "ein Hund am Strand": model.encode_text("ein Hund am Strand", "de")}


def sets(model: Any) -> dict[str, np.ndarray]:
    images, texts = model.encode_image(REGIONS), model.encode_text(["a dog on the beach"])
    return {"first region": images.items[0], "first word": texts.items[0]}


def sets_of_two_languages(model: Any) -> dict[str, np.ndarray]:
    return {**sets(model), "erstes Wort": model.encode_text(["ein Hund am Strand"], "de").items[0]}


def halves(model: Any) -> dict[str, np.ndarray]:
    return {
        "left half": model.encode_x(HALVES)[0],
        "right half": model.encode_y(HALVES)[0],
        "reconstructed": model.reconstruct_y(HALVES)[0],
    }


def scenes(model: Any) -> dict[str, np.ndarray]:
    """A picture and a sentence in each language; of sets the first region and the first word."""
    found = {"image": model.encode_image(REGIONS), "english": model.encode_text(["a red circle above a blue square"])}
    if "de" in model.languages:
        found["german"] = model.encode_text(["ein roter Kreis über einem blauen Quadrat"], "de")
    return {name: getattr(encoded, "items", encoded)[0] for name, encoded in found.items()}


ENCODE = {
    "context_attention_scenes": scenes,
    "optimal_transport_scenes": scenes,
    "two_way_net_scenes": scenes,
    "context_attention_flickr8k_en_de": attention,
    "optimal_transport_flickr8k_en": sets,
    "optimal_transport_flickr8k_en_de": sets_of_two_languages,
    "two_way_net_flickr8k": english,
    "two_way_net_mnist": halves,
}


def test_every_built_in_preset_has_a_golden_slice_and_a_card() -> None:
    assert set(vse_zoo.list_presets()) == set(GOLDEN)
    assert all((saved_models() / name / "README.md").is_file() for name in GOLDEN)


def test_every_shipped_folder_is_as_its_hashes_say() -> None:
    for path in saved_models().glob("*/metadata.json"):
        assert json.loads(path.read_text(encoding="utf-8"))["preset"]["format"] == 1
        presets.check(path.parent)


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_slices(name: str) -> None:
    model = vse_zoo.load(name)
    found = ENCODE[name](model)
    for what, expected in GOLDEN[name].items():
        # Other processors round and fuse differently.
        np.testing.assert_allclose(found[what][:4], expected, atol=1e-4, err_msg=what)


def test_translations_meet_and_other_sentences_do_not() -> None:
    model = vse_zoo.load("context_attention_flickr8k_en_de")
    dog = model.encode_text("ein Hund am Strand", "de")
    assert dog @ model.encode_text("a dog on the beach", "en") > 0.6
    assert dog @ model.encode_text("a man riding a bicycle", "en") < 0.3
