"""Presets of format 1, frozen: they load for ever and give the numbers of the day on which they were written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import vse_zoo

FOLDER = Path(__file__).parent / "presets_v1"
GOLDEN: dict[str, dict[str, Any]] = json.loads((FOLDER / "golden.json").read_text(encoding="utf-8"))
REGIONS = (np.arange(2 * 3 * 6).reshape(2, 3, 6) % 7 - 3).astype("float32")
MASK = np.array([[True, True, True], [True, True, False]])
SENTENCES = {"en": ["a red dog", "A cat!", ""], "de": ["ein roter Hund", "Straße", "?"]}


def found(model: Any) -> dict[str, Any]:
    """Embeddings of two pictures and of three sentences a language, and what the pairs score."""
    images = model.encode_image(REGIONS, MASK)
    texts = {language: model.encode_text(SENTENCES[language], language) for language in model.languages}
    scores = {f"scores {language}": np.asarray(model.similarity(images, texts[language])) for language in texts}
    embeddings = {} if model.similarity_kind == "pairwise" else {"images": images, **texts}
    return {**embeddings, **scores}


@pytest.mark.parametrize("name", GOLDEN)
def test_loads_for_ever(name: str) -> None:
    numbers = found(vse_zoo.load(FOLDER / name))
    assert set(numbers) == set(GOLDEN[name])
    for what, expected in GOLDEN[name].items():
        np.testing.assert_allclose(numbers[what], expected, atol=1e-5, err_msg=what)


def test_every_family_is_frozen_in_format_1() -> None:
    assert {path.parent.name for path in FOLDER.glob("*/config.json")} == set(GOLDEN)
    kinds = {json.loads((FOLDER / name / "config.json").read_text())["class_name"] for name in GOLDEN}
    assert kinds == {"ContextAttentionVSE", "TransportVSE", "TwoWayNet"}
    assert all(json.loads((FOLDER / name / "metadata.json").read_text())["preset"]["format"] == 1 for name in GOLDEN)
    assert sum(path.stat().st_size for path in FOLDER.rglob("*") if path.is_file()) < 200_000


@pytest.mark.parametrize("name", GOLDEN)
def test_weights_are_written_where_they_were(name: str, tmp_path: Path) -> None:
    """So that a version from before a change of the layers reads what a later one writes."""
    vse_zoo.load(FOLDER / name).save_weights(tmp_path / "model.weights.h5")
    found, expected = (arrays(folder / "model.weights.h5") for folder in (tmp_path, FOLDER / name))
    assert set(found) == set(expected)
    for path, values in expected.items():
        np.testing.assert_array_equal(found[path], values, err_msg=path)


def arrays(path: Path) -> dict[str, np.ndarray]:
    """The arrays of a weight file by their paths in it."""
    values: dict[str, np.ndarray] = {}
    with h5py.File(path) as file:
        file.visititems(lambda name, item: values.update({name: item[()]}) if isinstance(item, h5py.Dataset) else None)
    return values
