"""The command line: help with examples, the whole path on a folder of pictures, one message for each error."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import typer
from PIL import Image
from typer.testing import CliRunner

import vse_zoo
from vse_zoo import cli
from vse_zoo.data import Dataset, sources

COLORS = {"red": (200, 30, 30), "green": (30, 180, 30), "blue": (30, 30, 200)}
GERMAN = {"red": "rot", "green": "grün", "blue": "blau"}
CONFIG = """
[model]
units = 8
heads = 1
word_dim = 8
[ranking]
kind = "contrastive"
[optimizer]
schedule = "cosine"
[train]
epochs = 1
batch_size = 8
minimum_count = 1
"""
COMMANDS = [
    "features",
    "views",
    "train",
    "evaluate",
    "ground",
    "explain",
    "report",
    "export",
    "quickstart",
    "index",
    "search",
    "serve",
    "models",
    *(f"prepare {name}" for name in sources.names()),
]
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Calls the console script: exit status, standard output, standard error."""
    monkeypatch.setenv("COLUMNS", "200")

    def call(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["vse-zoo", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as caught:
            cli.run()
        return int(caught.value.code or 0), *capsys.readouterr()

    return call


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """Thirty pictures of one colour each, one of them unreadable, and captions.csv with both languages."""
    folder = tmp_path / "photos"
    folder.mkdir()
    random = np.random.default_rng(0)
    rows = []
    for number in range(30):
        color = list(COLORS)[number % 3]
        pixels = np.array(COLORS[color]) + random.integers(-20, 20, (24, 32, 3))
        Image.fromarray(pixels.astype("uint8")).save(folder / f"{number}.png")
        split = ("train", "train", "train", "dev", "test")[number % 5]
        rows += [
            (f"{number}.png", f"a {color} wall", "en", split),
            (f"{number}.png", f"{GERMAN[color]}e Wand", "de", split),
        ]
    (folder / "0.png").write_bytes(b"not a picture")
    with (tmp_path / "captions.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("image", "caption", "language", "split"), *rows])
    (tmp_path / "tiny.toml").write_text(CONFIG)
    return folder


def test_every_command_is_tested_here() -> None:
    group = typer.main.get_command(cli.app)
    names = [name for name in group.commands if name != "prepare"]  # type: ignore[attr-defined]
    names += [f"prepare {name}" for name in group.commands["prepare"].list_commands(None)]  # type: ignore[attr-defined]
    assert sorted(names) == sorted(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_an_example(command: str) -> None:
    result = CliRunner().invoke(cli.app, [*command.split(), "--help"], env={"COLUMNS": "200"})
    assert result.exit_code == 0
    assert f"vse-zoo {command}" in " ".join(result.output.split())


@pytest.mark.parametrize("arguments", [["--help"], ["prepare", "--help"]])
def test_help_lists_the_commands(arguments: list[str]) -> None:
    result = CliRunner().invoke(cli.app, arguments, env={"COLUMNS": "200"})
    assert result.exit_code == 0
    assert "xample" in result.output
    listed = sources.names() if len(arguments) == 2 else ["prepare", *COMMANDS[:7]]
    assert all(f" {name} " in result.output for name in listed)


@pytest.mark.usefixtures("without_graphs")
def test_photos_to_figures(run: Run, photos: Path, tmp_path: Path) -> None:
    data, out, figures = tmp_path / "data", tmp_path / "run", tmp_path / "figures.json"
    status, said, _ = run("prepare", "folder", data, "--images", photos, "--captions", tmp_path / "captions.csv")
    assert status == 0
    assert "30 images (" in said
    assert f"Next: vse-zoo features {data}" in said
    assert Dataset.open(data).languages == ("en", "de")

    status, said, _ = run("features", data, "--grid", "2x2")
    assert status == 0
    assert "left out 0.png: " in said
    assert "29 images have regions of 1280 numbers" in said
    assert Dataset.open(data).grid == (2, 2)

    status, said, _ = run("views", data, "--count", 2)
    assert status == 0
    assert "2 views of each of 17 training pictures" in said
    (tmp_path / "tiny.toml").write_text(CONFIG + "views = true\n")

    status, said, _ = run(
        "train", "context_attention", "--data", data, "--out", out, "--config", tmp_path / "tiny.toml"
    )
    assert status == 0
    assert f"Next: vse-zoo evaluate {out} --data {data} --split test" in said

    status, said, _ = run("evaluate", out, "--data", data, "--split", "test", "--json", figures)
    assert status == 0
    assert "test split" in " ".join(said.split()), "a long title is wrapped"
    found = json.loads(figures.read_text())
    assert set(found["languages"]) == {"en", "de"}
    assert found["languages"]["en"]["images"] == 6
    assert vse_zoo.load(out).languages == ("en", "de")


def test_models_are_listed(run: Run) -> None:
    status, said, _ = run("models")
    assert status == 0
    assert all(name in said for name in vse_zoo.list_presets())


def test_each_error_is_one_message_without_a_traceback(run: Run, photos: Path, tmp_path: Path) -> None:
    table, data = tmp_path / "captions.csv", tmp_path / "data"
    assert run("prepare", "folder", data, "--images", photos, "--captions", table)[0] == 0
    trained = ("train", "context_attention", "--data", data, "--out", tmp_path / "run")
    cases: list[tuple[tuple[object, ...], str]] = [
        (("prepare", "folder", data, "--images", photos, "--captions", table), "there is a dataset here already"),
        (("prepare", "folder", data, "--images", tmp_path / "x", "--captions", table), "no such folder"),
        (("prepare", "folder", data, "--images", photos, "--captions", tmp_path / "x.csv"), "x.csv"),
        (("features", tmp_path / "x"), "no such folder"),
        (("features", data, "--grid", "7"), "--grid: found '7', expected rows x columns"),
        (("features", data, "--backbone", "[b]net"), "[b]net"),
        (("features", data, "--strict"), "0.png"),
        (("views", data), "Run: vse-zoo features"),
        (
            ("train", "no_recipe", "--data", data, "--out", tmp_path / "run"),
            "expected one of: add_language, context_attention",
        ),
        ((*trained, "--config", tmp_path / "x.toml"), "x.toml: no such file"),
        ((*trained, "--config", tmp_path / "tiny.toml", "--epochs", "0"), "field 'train.epochs': found 0"),
        ((*trained, "--config", tmp_path / "tiny.toml"), "Run: vse-zoo features"),
        (("evaluate", "no_model", "--data", data), "found neither a model folder nor a built-in model 'no_model'"),
    ]
    for arguments, reason in cases:
        status, said, error = run(*arguments)
        assert status == 1, arguments
        assert reason in error, arguments
        assert error.count("Error:") == 1, error
        assert "Traceback" not in said + error, error


@pytest.mark.parametrize("arguments", [["trian"], ["features"], ["features", "x", "--grib", "3x3"]])
def test_wrong_usage_exits_with_2(run: Run, arguments: list[str]) -> None:
    status, _, error = run(*arguments)
    assert status == 2
    assert "Usage" in error
    assert "Traceback" not in error
