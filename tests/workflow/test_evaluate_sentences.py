"""`vse-zoo evaluate` of sentences alone: one kind of figures at a time, in a table and in JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from typer.testing import CliRunner

from vse_zoo import cli, presets
from vse_zoo.data import Record, write_dataset
from vse_zoo.errors import ConfigError, EvaluationError
from vse_zoo.workflow import evaluate_model

NAMES = {"one": 1, "eins": 1, "two": 2, "zwei": 2, "three": 3, "drei": 3, "uno": 1}


class Counting:
    """A sentence is the vector of the number that it names."""

    languages = ("en", "de", "es")

    def encode_text(self, texts: Sequence[str], language: str) -> NDArray[Any]:
        angles = np.array([NAMES[text.split()[-1]] for text in texts]) * 0.4
        return np.stack([np.cos(angles), np.sin(angles)], axis=1)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    captions = [("one", "eins"), ("two", "zwei"), ("three", "drei")]
    records = [Record(f"{en}.jpg", "test", {"en": [f"number {en}", en], "de": [de]}) for en, de in captions]
    write_dataset(tmp_path / "data", records, name="n", image_source={"kind": "none"}, languages=("en", "de"))
    return tmp_path / "data"


@pytest.fixture
def sts(tmp_path: Path) -> Path:
    folder = tmp_path / "sts" / "2012"
    folder.mkdir(parents=True)
    (folder / "STS.input.numbers.txt").write_text("one\ttwo\none\tthree\ntwo\ttwo\none\tnumber one\n")
    (folder / "STS.gs.numbers.txt").write_text("2\n0\n5\n\n")
    return tmp_path / "sts"


def call(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> Any:
    monkeypatch.setattr(presets, "load", lambda name: Counting())
    return CliRunner().invoke(cli.app, ["evaluate", "counting", *map(str, arguments)], env={"COLUMNS": "200"})


def test_similarity(monkeypatch: pytest.MonkeyPatch, sts: Path, tmp_path: Path) -> None:
    result = call(monkeypatch, "--sts", sts, "--json", tmp_path / "a.json")
    assert result.exit_code == 0, result.output
    expected = np.corrcoef([np.cos(0.4), np.cos(0.8), 1], [2, 0, 5])[0, 1]
    found = json.loads((tmp_path / "a.json").read_text())
    assert found["files"]["2012/numbers"] == pytest.approx(
        {"pairs": 3, "skipped": 1, "pearson": expected, "spearman": 1}
    )
    assert found["language"] == "en"
    assert f"{expected:.3f}" in result.output
    assert "2012/numbers" in result.output


def test_between_languages(monkeypatch: pytest.MonkeyPatch, data: Path, tmp_path: Path) -> None:
    result = call(monkeypatch, "--data", data, "--between", "en, de", "--json", tmp_path / "a.json")
    assert result.exit_code == 0, result.output
    found = json.loads((tmp_path / "a.json").read_text())
    (pair,) = found["between"]
    assert (pair["first"], pair["second"], pair["images"], pair["rsum"]) == ("en", "de", 3, 600)
    assert (pair["forward"]["queries"], pair["backward"]["queries"]) == (6, 3)
    assert "English → German" in result.output
    assert "German → English" in result.output


def test_one_kind_of_figures_at_a_time(data: Path, sts: Path) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({}, "--data, --sts: found neither, expected one"),
        ({"data": data, "sts": sts}, "--data, --sts: found both, expected one"),
        ({"sts": sts, "between": "en,de"}, "belong to --data"),
        ({"sts": sts, "folds": 5}, "belong to --data"),
        ({"sts": sts, "protocol": "coco"}, "belong to --data"),
        ({"data": data, "language": "en"}, "--language belongs to --sts"),
        ({"data": data, "encoding": "cp1252"}, "--encoding belongs to --sts"),
        ({"data": data, "between": "en,de", "folds": 5}, "--folds and --protocol: found one of them with --between"),
    ]
    for options, problem in cases:
        with pytest.raises(ConfigError, match=problem):
            evaluate_model(Counting(), "counting", **options)
    with pytest.raises(EvaluationError, match="found en, expected two or more different ones"):
        evaluate_model(Counting(), "counting", data, between="en,")
    with pytest.raises(EvaluationError, match="Counting, language: found 'fr', the model knows en, de, es"):
        evaluate_model(Counting(), "counting", sts=sts, language="fr")
