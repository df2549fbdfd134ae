"""Cards: each says what a user must know, with the figures of its metadata.json; a slow test measures these again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import vse_zoo
from vse_zoo.data import Dataset
from vse_zoo.data.sources.flickr8k import read_flickr8k
from vse_zoo.data.sources.mnist_halves import read_mnist_halves
from vse_zoo.data.sources.scenes import read_scenes
from vse_zoo.features import backbones
from vse_zoo.registry import saved_models
from vse_zoo.workflow import evaluate_model
from vse_zoo.workflow.features import add_features

CARDS = sorted(path.parent.name for path in saved_models().glob("*/metadata.json"))
SAID = ["Trained on", "Licence", "How", "Figures", "Use", "Limits", "Size and speed"]
RANKS = ("r1", "r5", "r10")
SIDES = ("i2t", "t2i")
DATA = {"flickr8k": "flickr8k", "mnist_halves": "mnist"}
"""Needed from outside, by the name of a preset's data."""


def record(name: str) -> dict[str, Any]:
    return json.loads((saved_models() / name / "metadata.json").read_text(encoding="utf-8"))


def card(name: str) -> str:
    return (saved_models() / name / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", CARDS)
def test_a_card_says_all(name: str) -> None:
    text = card(name)
    assert [label for label in SAID if f"- **{label}" not in text] == []
    size = (saved_models() / name / "model.weights.h5").stat().st_size
    assert f"{size / 1e6:.1f} MB" in text
    if name in vse_zoo.list_presets():
        recorded = record(name)
        assert f"--config {config_name(name)} --seed {recorded['config']['train']['seed']}" in text
        assert f'vse_zoo.load("{name}")' in text


def config_name(name: str) -> str:
    """The configuration in recipes/configs that a preset was trained by."""
    own = {"context_attention_flickr8k_en_de": "flickr8k_zoo"}
    own |= {"two_way_net_flickr8k": "flickr8k_zoo", "two_way_net_mnist": "mnist_zoo"}
    return own.get(name) or ("scenes" if name.endswith("_scenes") else "flickr8k")


@pytest.mark.parametrize("name", vse_zoo.list_presets())
def test_a_card_has_the_recorded_figures(name: str) -> None:
    recorded, text = record(name), card(name)
    seeds = recorded["seeds"]
    assert seeds[str(recorded["config"]["train"]["seed"])] == recorded["test"], "the one that ships is among the seeds"
    for figures in shown(recorded["test"], list(seeds.values())):
        assert figures in text


def shown(test: dict[str, Any], seeds: list[dict[str, Any]]) -> list[str]:
    """Figures as a card writes them: this model's, and their mean and sample standard deviation over the seeds."""
    if "languages" not in test:
        return [f"{test['neuron']:.2f} | {test['canonical']:.2f} | {test['effective_rank']:.1f}"]
    found = []
    for language, each in test["languages"].items():
        for side in SIDES:
            found.append("/".join(f"{each[side][rank]:.1f}" for rank in RANKS))
            values = np.array([[seed["languages"][language][side][rank] for rank in RANKS] for seed in seeds])
            pairs = zip(values.mean(0), values.std(0, ddof=1), strict=True)
            found.append(" / ".join(f"{mean:.1f} ± {deviation:.1f}" for mean, deviation in pairs))
    return found


@pytest.fixture(scope="session")
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """``folder(preset)``: the test split of a preset's data, rendered or from real data, with its kind of regions."""
    made: dict[str, Path] = {}

    def of(name: str) -> Path:
        data = record(name)["dataset"]
        key = "-".join(map(str, [data["name"], *data.get("grid", ())]))
        if key not in made:
            made[key] = tmp_path_factory.mktemp("data") / key
            shared = request.getfixturevalue("shared_data") if data["name"] in DATA else None
            write(data["name"], shared, made[key])
            if "grid" in data:
                add_features(Dataset.open(made[key]), backbones.get(data["backbone"], tuple(data["grid"])))
        return made[key]

    return of


def write(name: str, shared: Path | None, out: Path) -> None:
    if shared is None:
        read_scenes(train=0, dev=0, test=500).write(out)
    elif name == "mnist_halves":
        read_mnist_halves(shared / "mnist" / "mnist.npz").write(out)
    else:
        # Of 8,000 photos the features would take minutes.
        splits = out.parent / f"{out.name}-splits"
        splits.mkdir()
        for part in ("train", "dev"):
            (splits / f"Flickr_8k.{part}Images.txt").write_text("")
        tested = "Flickr_8k.testImages.txt"
        (splits / tested).write_bytes((shared / "flickr8k" / "splits" / tested).read_bytes())
        photos, captions = shared / "flickr8k" / "images", shared / "flickr8k" / "captions.txt"
        read_flickr8k(photos, captions, splits, shared / "multi30k").write(out)


@pytest.mark.slow
@pytest.mark.parametrize("name", vse_zoo.list_presets())
def test_figures_can_be_measured_again(name: str, folder: Callable[[str], Path]) -> None:
    expected = record(name)["test"]
    found = evaluate_model(vse_zoo.load(name), name, folder(name)).values
    if "languages" not in expected:
        del found["split"], expected["split"]
        assert found == pytest.approx(expected, rel=0.01)
        return
    assert set(found["languages"]) == set(expected["languages"])
    for language, figures in expected["languages"].items():
        assert (found["languages"][language]["images"], found["languages"][language]["texts"]) == (
            figures["images"],
            figures["texts"],
        )
        for side in SIDES:
            again, recorded = ([each[side][rank] for rank in RANKS] for each in (found["languages"][language], figures))
            # Another processor rounds features differently, which moves a few of the queries.
            np.testing.assert_allclose(again, recorded, atol=0.5, err_msg=f"{language} {side}")
