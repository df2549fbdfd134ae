"""The SavedModels in saved_models/<preset>/1: one of each family, made from the preset's weights, with its answers."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import tensorflow as tf

import vse_zoo
from vse_zoo.data.scenes import render
from vse_zoo.features import backbones
from vse_zoo.registry import saved_models
from vse_zoo.sets import ItemSets

FOLDERS = sorted(path.parents[1] for path in saved_models().glob("*/1/saved_model.pb"))
SLOW = [
    pytest.param(folder, marks=[] if folder.name == "two_way_net_mnist" else pytest.mark.slow) for folder in FOLDERS
]
LIMIT = 1e-5
TEXTS = ["a dog on the beach", "", "Zwei Hunde spielen im Schnee.", "two men ride red bicycles"]


def config(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "config.json").read_text(encoding="utf-8"))


def test_each_family_has_one() -> None:
    assert sorted(config(folder)["class_name"] for folder in FOLDERS) == [
        "ContextAttentionVSE",
        "TransportVSE",
        "TwoWayNet",
    ]


def test_all_together_stay_small() -> None:
    assert sum(path.stat().st_size for path in saved_models().rglob("*") if path.is_file()) < 200_000_000


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_server_finds_one_version_and_its_name(folder: Path) -> None:
    assert [path.name for path in folder.iterdir() if path.name.isdigit()] == ["1"]
    assert f'base_path: "/models/{folder.name}"' in (folder / "models.config").read_text()
    assert (folder / "batching_parameters.txt").is_file()
    assert (folder / "1" / "assets.extra" / "tf_serving_warmup_requests").is_file()


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_it_holds_the_weights_and_words_of_the_preset(folder: Path) -> None:
    trained = Arrays()
    with h5py.File(folder / "model.weights.h5") as file:
        file.visititems(lambda _, node: trained.add(node[()]) if isinstance(node, h5py.Dataset) else None)
    served, reader = Arrays(), tf.train.load_checkpoint(str(folder / "1" / "variables" / "variables"))
    for name in reader.get_variable_to_shape_map():
        if name.endswith("VARIABLE_VALUE"):
            served.add(reader.get_tensor(name))
    assert trained.found
    # What it holds besides is the backbone.
    assert trained.found <= served.found
    assert (trained.found == served.found) == (config(folder)["class_name"] == "TwoWayNet")
    for path in (folder / "assets").glob("*.txt"):
        words = path.read_text(encoding="utf-8").splitlines()
        assert (folder / "1" / "assets" / path.name).read_text(encoding="utf-8").splitlines()[-len(words) :] == words


class Arrays:
    """Weights by shape and bytes; scalars, such as a loss's temperature, and states of random numbers don't count."""

    def __init__(self) -> None:
        self.found: set[tuple[tuple[int, ...], bytes]] = set()

    def add(self, value: Any) -> None:
        if np.ndim(value) and np.issubdtype(value.dtype, np.floating):
            self.found.add((value.shape, value.tobytes()))


@pytest.mark.parametrize("folder", SLOW, ids=lambda folder: folder.name)
def test_it_answers_as_the_preset_does(folder: Path) -> None:
    model, signatures = vse_zoo.load(folder), tf.saved_model.load(str(folder / "1")).signatures
    if not model.languages:
        rows = np.random.default_rng(0).random((3, model.x_dim)).astype("float32")
        for name in ("encode_x", "encode_y", "reconstruct_x", "reconstruct_y"):
            view = "x" if name in ("encode_x", "reconstruct_y") else "y"
            (found,) = signatures[name](**{view: tf.constant(rows)}).values()
            np.testing.assert_allclose(found, getattr(model, name)(rows), atol=LIMIT, err_msg=name)
        return
    regions = np.random.default_rng(0).random((2, 5, model.region_dim)).astype("float32")
    mask = np.array([[True] * 5, [True] * 3 + [False] * 2])
    found = signatures["encode_image"](regions=tf.constant(regions), n_regions=tf.constant([5, 3]))
    close(found, model.encode_image(regions, mask), "n_regions")
    for language in model.languages:
        found = signatures[f"encode_text_{language}"](text=tf.constant(TEXTS))
        close(found, model.encode_text(TEXTS, language), "n_words")
    grid = vse_zoo.presets.metadata(folder)["dataset"]["grid"]
    picture, file = render(0, 900_000), io.BytesIO()
    picture.save(file, "PNG")
    found = signatures["encode_image_bytes"](image=tf.constant([file.getvalue()]))
    features = backbones.get(backbones.BUILT_IN, tuple(grid)).regions(np.asarray(picture)[None])
    close(found, model.encode_image(features.astype("float16")), "n_regions")


def close(found: Any, expected: Any, count: str) -> None:
    """Compares vectors, or the real items of sets."""
    embedding = found["embedding"].numpy()
    if isinstance(expected, ItemSets):
        mask = np.arange(embedding.shape[1]) < found[count].numpy()[:, None]
        embedding, expected = ItemSets.of(embedding, mask).items, expected.items
    np.testing.assert_allclose(embedding, expected, atol=LIMIT)
