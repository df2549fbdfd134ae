"""COCO's figures against a loop written as SCAN's evaluation is: argsort, contiguous folds, five captions an image."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from rich.console import Console
from typer.testing import CliRunner

from vse_zoo import cli, presets
from vse_zoo.data import Dataset, Record, write_dataset
from vse_zoo.data.sources.karpathy import read_karpathy
from vse_zoo.errors import ConfigError, EvaluationError
from vse_zoo.evaluation import evaluate_retrieval
from vse_zoo.workflow import evaluate_folder

TESTED, SIZE = 5000, 16


def planted(captions: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """(5000, 16) and (5000 · captions, 16): photos of different folds resemble each other, as 5K is harder than 1K."""
    random = np.random.default_rng(0)
    themes = random.normal(size=(1000, SIZE))
    images = np.tile(themes, (5, 1)) + 0.7 * random.normal(size=(TESTED, SIZE))
    texts = np.repeat(images, captions, axis=0) + 0.7 * random.normal(size=(TESTED * captions, SIZE))
    return images.astype(np.float32), texts.astype(np.float32)


def recalls(images: NDArray[Any], texts: NDArray[Any], captions: int) -> list[float]:
    """R@1, R@5 and R@10 of both directions, in percent: caption j belongs to image j // captions.

    A place is the number of scores that are higher; no two scores of these random vectors are equal.
    """
    scores = images.astype(np.float64) @ texts.astype(np.float64).T
    owner = np.arange(len(texts)) // captions
    own = scores[owner, np.arange(len(texts))]
    best = (scores > own.reshape(-1, captions).max(axis=1)[:, None]).sum(axis=1)
    found = (scores > own).sum(axis=0)
    return [100 * float(np.mean(places < k)) for places in (best, found) for k in (1, 5, 10)]


def in_folds(images: NDArray[Any], texts: NDArray[Any], captions: int) -> list[float]:
    parts = [
        recalls(images[start : start + 1000], texts[captions * start : captions * (start + 1000)], captions)
        for start in range(0, TESTED, 1000)
    ]
    return np.mean(parts, axis=0).tolist()


def test_five_folds_of_five_captions_each() -> None:
    images, texts = planted(5)
    figures = evaluate_retrieval(images, texts, np.arange(5 * TESTED) // 5, folds=5)
    assert [*figures.i2t.recalls, *figures.t2i.recalls] == pytest.approx(in_folds(images, texts, 5), abs=1e-9)
    assert (figures.i2t.queries, figures.t2i.queries) == (5000, 25000)


class Reader:
    """A model whose sentences name the row of their vector, and that counts what it encodes."""

    languages = ("en",)

    def __init__(self, texts: NDArray[Any]) -> None:
        self.texts = texts
        self.encoded = {"images": 0, "texts": 0}

    def encode_image(self, regions: NDArray[Any], region_mask: NDArray[np.bool_]) -> NDArray[Any]:
        self.encoded["images"] += len(regions)
        return regions[:, 0]

    def encode_text(self, texts: Sequence[str], language: str) -> NDArray[Any]:
        self.encoded["texts"] += len(texts)
        return self.texts[[int(text.split()[-1]) for text in texts]]


def karpathy_folder(tmp_path: Path, images: NDArray[Any]) -> tuple[Path, list[int]]:
    """A dataset folder from Karpathy's JSON with the test photos in an order of their own, strewn among others."""
    order = np.random.default_rng(1).permutation(TESTED).tolist()
    listed = []
    for place, number in enumerate(order):
        sentences = [{"raw": f"photo {number}", "tokens": ["photo", str(number)]}]
        listed.append({"filename": f"{number}.jpg", "split": "test", "sentences": sentences})
        if place % 500 == 0:
            listed.append({"filename": f"other{number}.jpg", "split": "train", "sentences": sentences})
    (tmp_path / "dataset.json").write_text(json.dumps({"dataset": "coco", "images": listed}))
    dataset = read_karpathy(tmp_path / "dataset.json").write(tmp_path / "data")
    rows = [int(record.image.removeprefix("other").removesuffix(".jpg")) for record in dataset.records]
    np.save(tmp_path / "regions.npy", images[rows][:, None])
    dataset.attach_regions(tmp_path / "regions.npy", None, backbone="planted", grid=None, left_out={})
    return tmp_path / "data", order


def test_both_figures_in_the_order_of_karpathys_file(tmp_path: Path) -> None:
    images, texts = planted(1)
    data, order = karpathy_folder(tmp_path, images)
    model = Reader(texts)
    found = evaluate_folder(model, "reader", data, "test", protocol="coco")
    expected = {
        "5K": recalls(images[order], texts[order], 1),
        "1K": in_folds(images[order], texts[order], 1),
    }
    assert (found.values["protocol"], found.values["split"]) == ("coco", "test")
    for name, numbers in expected.items():
        english = found.values[name]["languages"]["en"]
        values = [english[side][k] for side in ("i2t", "t2i") for k in ("r1", "r5", "r10")]
        assert values == pytest.approx(numbers, abs=1e-9), name
        assert found.values[name]["rsum"] == pytest.approx(sum(numbers))
    # The order matters: folds in the order of the photos' numbers give other figures.
    assert in_folds(images, texts, 1) != pytest.approx(expected["1K"], abs=1e-3)
    assert model.encoded == {"images": 5000, "texts": 5000}
    assert evaluate_folder(model, "reader", data, "test", folds=5).values == found.values["1K"]
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(found.table)
    said = console.export_text()
    assert "retrieval in percent, 5K" in said
    assert "retrieval in percent, 1K: mean of five folds" in said


def test_the_command_writes_both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    images, texts = planted(1)
    data, _ = karpathy_folder(tmp_path, images)
    monkeypatch.setattr(presets, "load", lambda name: Reader(texts))
    arguments = ["evaluate", "reader", "--data", str(data), "--protocol", "coco", "--json", str(tmp_path / "a.json")]
    result = CliRunner().invoke(cli.app, arguments, env={"COLUMNS": "200"})
    assert result.exit_code == 0, result.output
    found = json.loads((tmp_path / "a.json").read_text())
    assert found["5K"]["rsum"] < found["1K"]["rsum"]
    assert all(f"{found[name]['rsum']:.1f}" in result.output for name in ("5K", "1K"))


def test_other_splits_and_options_are_refused(tmp_path: Path) -> None:
    records = [Record(f"{number}.jpg", "test", {"en": [f"photo {number}"]}) for number in range(4)]
    write_dataset(tmp_path / "data", records, name="n", image_source={"kind": "none"}, languages=("en",))
    assert len(Dataset.open(tmp_path / "data")) == 4
    model = Reader(np.eye(4))
    with pytest.raises(EvaluationError, match=r"'test' has 4 images with captions in 'en', expected 5000.*--folds 5"):
        evaluate_folder(model, "reader", tmp_path / "data", "test", protocol="coco")
    with pytest.raises(ConfigError, match="found 'coco' with 5 folds"):
        evaluate_folder(model, "reader", tmp_path / "data", "test", 5, "coco")
    with pytest.raises(ConfigError, match="found 'flickr' with 1 folds, expected 'coco' alone"):
        evaluate_folder(model, "reader", tmp_path / "data", "test", protocol="flickr")
