"""vse-zoo ground on rendered scenes: a model that sees every phrase where its box is, and one that sees nothing."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from vse_zoo import cli, presets
from vse_zoo.data import Dataset
from vse_zoo.data.sources.scenes import read_scenes
from vse_zoo.features.grids import grid_boxes
from vse_zoo.preprocessing import TextPreprocessor
from vse_zoo.sets import ItemSets

Run = Callable[..., tuple[int, str, str]]
CELLS = grid_boxes((7, 7), (7, 7)).astype(np.float64)


@pytest.fixture(scope="module")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    folder = tmp_path_factory.mktemp("scenes")
    dataset = read_scenes(train=1, dev=1, test=12).write(folder / "data")
    np.save(folder / "r.npy", np.zeros((14, 49, 2), np.float16))
    np.save(folder / "b.npy", np.tile(CELLS.astype(np.float32), (14, 1, 1)))
    return dataset.attach_regions(folder / "r.npy", folder / "b.npy", backbone="b", grid=(7, 7), left_out={})


class Oracle:
    """Its plan is each cell's share in the first box of the words' phrase; its cosines are all equal."""

    languages = ("de", "en")

    def __init__(self, dataset: Dataset) -> None:
        self.preprocessor = TextPreprocessor({"en": [], "de": []})
        self.phrases: dict[str, list[tuple[int, int, tuple[float, ...]]]] = {}
        for record in dataset.records:
            for phrase in record.phrases:
                text = record.captions[phrase.language][phrase.caption]
                self.phrases.setdefault(text, []).append((phrase.start, phrase.end, phrase.boxes[0]))
        self.texts: list[str] = []

    def encode_image(self, regions: np.ndarray, region_mask: np.ndarray) -> ItemSets:
        return ItemSets.of(regions, region_mask)

    def encode_text(self, texts: Sequence[str], language: str) -> ItemSets:
        self.texts = list(texts)
        counts = np.array([len(spans) for spans in self.preprocessor.spans(self.texts)])
        return ItemSets(np.zeros((counts.sum(), 2), np.float32), counts)

    def align(self, images: ItemSets, texts: ItemSets) -> tuple[np.ndarray, np.ndarray]:
        plans = np.zeros((len(texts), 49, texts.counts.max()))
        for plan, text, spans in zip(plans, self.texts, self.preprocessor.spans(self.texts), strict=True):
            for start, end, box in self.phrases[text]:
                shared = np.minimum(CELLS[:, 2:], box[2:]) - np.maximum(CELLS[:, :2], box[:2])
                words = [word for word, (low, high) in enumerate(spans) if start <= low and high <= end]
                plan[:, words] += np.clip(shared, 0, None).prod(axis=1)[:, None]
        return plans, np.ones_like(plans)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Calls ``vse-zoo ground``: exit status, standard output, standard error."""

    def call(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["vse-zoo", "ground", *map(str, arguments)])
        monkeypatch.setenv("COLUMNS", "200")
        capsys.readouterr()
        with pytest.raises(SystemExit) as caught:
            cli.run()
        return int(caught.value.code or 0), *capsys.readouterr()

    return call


def test_what_is_seen_is_found(scenes: Dataset, run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(presets, "load", lambda name: Oracle(scenes))
    status, said, _ = run("oracle", "--data", scenes.path, "--json", tmp_path / "figures.json")
    assert status == 0
    assert all(part in said for part in ("oracle, test split", "English", "German", "transport", "cosine", "chance"))
    found = json.loads((tmp_path / "figures.json").read_text())
    assert (found["split"], found["boxes"], list(found["languages"])) == ("test", "any", ["en", "de"])
    for ways in found["languages"].values():
        assert ways["transport"]["pointing"] == 100
        assert ways["transport"]["map_box"] > 95
        assert (ways["cosine"]["pointing"], ways["cosine"]["map_box"]) == (0, 0)
        assert ways["transport"]["without_words"] == ways["transport"]["without_boxes"] == 0
        assert 5 < ways["transport"]["pointing_chance"] < 20
    phrases = [phrase for row in scenes.indices("test") for phrase in scenes.records[row].phrases]
    assert sum(ways["cosine"]["phrases"] for ways in found["languages"].values()) == len(phrases)


def test_each_error_is_one_message(scenes: Dataset, run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(presets, "load", lambda name: Oracle(scenes) if name == "oracle" else object())
    for arguments, reason in [
        (("oracle", "--data", scenes.path, "--boxes", "all"), "found 'all', expected one of: any, union"),
        (("oracle", "--data", scenes.path, "--split", "val"), "found 'val', expected one of: train, dev, test"),
        (("oracle", "--data", tmp_path), "not a dataset folder"),
        (("other", "--data", scenes.path), "compares whole pictures with whole sentences"),
    ]:
        status, said, error = run(*arguments)
        assert (status, error.count("Error:"), "Traceback" in said + error) == (1, 1, False)
        assert reason in " ".join(error.split())
