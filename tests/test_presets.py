"""Presets: what is saved is loaded, what is missing, damaged or foreign is named, names lead to folders."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import keras
import numpy as np
import pytest

import vse_zoo
from vse_zoo import presets
from vse_zoo.errors import PresetError
from vse_zoo.losses import ContrastiveLoss
from vse_zoo.models import ContextAttentionVSE
from vse_zoo.preprocessing import TextPreprocessor

REGIONS = np.random.default_rng(0).normal(size=(5, 4, 6)).astype("float32")
TEXTS = ["a dog", "", "dog 🐕 unknown", "DOG a dog a dog"]


def create(units: int = 8, words: int = 2, seed: int = 3) -> ContextAttentionVSE:
    keras.utils.set_random_seed(seed)
    vocabularies = {"en": ["a", "dog", "cat"][:words], "de": ["ein", "Straße"]}
    model = ContextAttentionVSE(
        TextPreprocessor(vocabularies, max_length=4),
        6,
        units=units,
        heads=2,
        word_dim=5,
        dropout=0.5,
        ranking_loss=ContrastiveLoss(0.07, learnable=True),
    )
    model.build()
    return model


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("presets") / "mine"
    model = create()
    model.image_encoder.adapt(REGIONS, np.ones(REGIONS.shape[:2], bool))
    presets.save(model, folder, {"dataset": {"name": "tiny"}})
    return folder


@pytest.fixture
def copy(saved: Path, tmp_path: Path) -> Path:
    return shutil.copytree(saved, tmp_path / "mine")


def test_a_round_trip_keeps_every_embedding_and_weight(saved: Path) -> None:
    original = create()
    original.image_encoder.adapt(REGIONS, np.ones(REGIONS.shape[:2], bool))
    keras.utils.set_random_seed(99)
    loaded = vse_zoo.load(str(saved))
    assert type(loaded) is ContextAttentionVSE
    np.testing.assert_array_equal(loaded.encode_image(REGIONS), original.encode_image(REGIONS))
    for language in ("en", "de"):
        np.testing.assert_array_equal(loaded.encode_text(TEXTS, language), original.encode_text(TEXTS, language))
    for one, other in zip(loaded.weights, original.weights, strict=True):
        np.testing.assert_array_equal(one, other)
    assert (loaded.dropout, loaded.ranking_loss.temperature, loaded.ranking_loss.learnable) == (0.5, 0.07, True)


def test_the_folder_has_what_is_documented(saved: Path) -> None:
    files = {path.relative_to(saved).as_posix() for path in saved.rglob("*") if path.is_file()}
    vocabularies = {"assets/vocabulary.en.txt", "assets/vocabulary.de.txt"}
    assert files == {"config.json", "model.weights.h5", "preprocessor.json", "metadata.json"} | vocabularies
    recorded = json.loads((saved / "metadata.json").read_text())
    assert recorded["preset"]["format"] == 1
    assert set(recorded["preset"]["sha256"]) == files - {"metadata.json"}
    for name, digest in recorded["preset"]["sha256"].items():
        assert hashlib.sha256((saved / name).read_bytes()).hexdigest() == digest
    assert presets.metadata(saved) == {"dataset": {"name": "tiny"}}
    assert presets.languages(saved) == ("en", "de")


def test_saving_over_a_preset_replaces_it(copy: Path) -> None:
    model = create(seed=4)
    (copy / "assets" / "vocabulary.fr.txt").write_text("chien\n")
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    (copy / f".{dead.pid}.saving").mkdir()  # of a run that was killed
    (copy / "README.md").write_text("a card")
    model.save_to_preset(copy)
    assert presets.metadata(copy) == {}
    assert {path.name for path in copy.iterdir()} == {
        "README.md", "assets", "config.json", "metadata.json", "model.weights.h5", "preprocessor.json",
    }  # fmt: skip
    assert not (copy / "assets" / "vocabulary.fr.txt").exists()
    np.testing.assert_array_equal(presets.load(copy).encode_text(TEXTS), model.encode_text(TEXTS))


def test_resolving(saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert presets.resolve(saved) == saved
    shutil.copytree(saved, tmp_path / "run" / "best")
    assert presets.resolve(tmp_path / "run") == tmp_path / "run" / "best"
    shutil.copytree(saved, tmp_path / "zoo" / "built_in")
    monkeypatch.setattr(presets.locations, "saved_models", lambda: tmp_path / "zoo")
    assert presets.names() == ["built_in"]
    assert presets.resolve("built_in") == tmp_path / "zoo" / "built_in"
    assert vse_zoo.load("built_in").languages == ("en", "de")


@pytest.mark.parametrize("name", ["no_such_model", "", ".", "a/b"])
def test_unknown_names_are_refused_with_those_that_are_known(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    expected = f"found neither a model folder nor a built-in model {name!r}; built in: "
    with pytest.raises(PresetError) as caught:
        presets.load(name)
    assert expected + (", ".join(presets.names()) or "none") in str(caught.value)


def test_every_built_in_model_says_what_it_is() -> None:
    for name in vse_zoo.list_presets():
        assert presets.metadata(name)["dataset"]["name"]
        assert set(presets.languages(name)) == set(vse_zoo.load(name).languages)


def edit(path: Path, **fields: object) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **fields}))


def halve(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


Damage = tuple[str, Callable[[Path], object]]
DAMAGE: dict[str, Damage] = {
    "no weights": ("model.weights.h5", Path.unlink),
    "weights cut": ("model.weights.h5", halve),
    "weights empty": ("model.weights.h5", lambda path: os.truncate(path, 0)),
    "weights that are text": ("model.weights.h5", lambda path: path.write_text("version https://git-lfs")),
    "weights of another size": ("model.weights.h5", lambda path: create(units=6).save_weights(path)),
    "weights of other words": ("model.weights.h5", lambda path: create(words=3).save_weights(path)),
    "no configuration": ("config.json", Path.unlink),
    "a configuration cut": ("config.json", halve),
    "a configuration that is a list": ("config.json", lambda path: path.write_text("[]")),
    "a configuration of nothing": ("config.json", lambda path: path.write_text("{}")),
    "an unknown model": ("config.json", lambda path: edit(path, class_name="Gone", registered_name="vse_zoo>Gone")),
    "no vocabulary": ("assets/vocabulary.de.txt", Path.unlink),
    "an unknown preprocessor": ("preprocessor.json", lambda path: edit(path, **{"class": "Gone"})),
    "a preprocessor without languages": (
        "preprocessor.json",
        lambda path: path.write_text('{"class": "TextPreprocessor"}'),
    ),
    "a preprocessor cut": ("preprocessor.json", halve),
    "a preprocessor that is a list": ("preprocessor.json", lambda path: path.write_text("[1]")),
}


def unhashed(folder: Path) -> Path:
    """The preset as it was written before there were hashes."""
    recorded = json.loads((folder / "metadata.json").read_text())
    del recorded["preset"]
    (folder / "metadata.json").write_text(json.dumps(recorded))
    return folder


@pytest.mark.parametrize("hashed", [True, False])
@pytest.mark.parametrize("kind", DAMAGE)
def test_damaged_presets_are_refused_with_the_file(copy: Path, kind: str, hashed: bool) -> None:
    name, damage = DAMAGE[kind]
    if not hashed:
        unhashed(copy)
    damage(copy / name)
    with pytest.raises(PresetError) as caught:
        presets.load(copy)
    assert str(copy / name) in str(caught.value)


def test_damaged_metadata_is_refused_with_the_file(copy: Path) -> None:
    for content in ("{", "[1]"):
        (copy / "metadata.json").write_text(content)
        with pytest.raises(PresetError, match=r"metadata\.json"):
            presets.metadata(copy)
    (copy / "preprocessor.json").write_text("{}")
    with pytest.raises(PresetError, match=r"preprocessor\.json"):
        presets.languages(copy)
