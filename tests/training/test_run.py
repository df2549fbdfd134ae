"""Runs: resumed to the bit with their best score, refused where they don't fit, usable after Ctrl-C."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from vse_zoo import presets
from vse_zoo.data import Dataset
from vse_zoo.errors import ConfigError, DataError
from vse_zoo.files import read_json
from vse_zoo.training import ContextAttentionConfig, Run, callbacks, read_history
from vse_zoo.training.configs.captions import CaptionTrainConfig as TrainConfig

SLOW = pytest.mark.slow
Train = Callable[..., None]
Same = Callable[[Path, Path], None]


class KilledError(Exception):
    """Stands for anything that ends a run without warning."""


def assert_same_run(run: Path, whole: Path, same: Same) -> None:
    same(run / "last.weights.h5", whole / "last.weights.h5")
    same(run / "best" / "model.weights.h5", whole / "best" / "model.weights.h5")
    assert (run / "log.csv").read_bytes() == (whole / "log.csv").read_bytes()
    assert (run / "run.json").read_text() == (whole / "run.json").read_text()
    records = [json.loads((path / "best" / "metadata.json").read_text()) for path in (run, whole)]
    for record in records:
        # Files of equal weights differ: Keras numbers the models of a process.
        del record["preset"]["sha256"]
    assert records[0] == records[1]


def test_a_run_has_what_is_documented(whole_run: Path) -> None:
    assert {path.name for path in whole_run.iterdir()} == {
        "run.json",
        "log.csv",
        "last.weights.h5",
        "best",
        "tensorboard",
    }
    rows = read_history(whole_run)
    assert [row["epoch"] for row in rows] == ["0", "1", "2"]
    assert {"loss", "ranking", "val_rsum", "val_en_i2t_r1", "val_de_t2i_r1"} <= rows[0].keys()
    best = max(rows, key=lambda row: float(row["val_rsum"]))
    metadata = presets.metadata(whole_run)
    assert metadata["epoch"] == int(best["epoch"])
    assert metadata["dev"]["val_rsum"] == pytest.approx(float(best["val_rsum"]), abs=1e-3)
    assert metadata["config"]["model"]["dropout"] == 0.3


@pytest.mark.slow
def test_dropout_the_temperature_and_the_order_matter(
    whole_run: Path, train: Train, assert_same_weights: Same, tmp_path: Path
) -> None:
    """Otherwise equal weights below would show little."""
    train(tmp_path / "other", seed=1, epochs=1)
    with pytest.raises(AssertionError):
        assert_same_weights(tmp_path / "other" / "last.weights.h5", whole_run / "last.weights.h5")
    with h5py.File(whole_run / "last.weights.h5") as file:
        names: list[str] = []
        file.visit(names.append)
        loss = next(name for name in names if name.endswith("contrastive_loss/vars/0"))
        assert file[loss][()] != np.float32(np.log(0.05))


@pytest.mark.parametrize(("epoch", "batch"), [pytest.param(0, 3, marks=SLOW), (1, 3), pytest.param(2, 10, marks=SLOW)])
def test_resumed_is_uninterrupted_to_the_bit(
    whole_run: Path,
    train: Train,
    interrupt: Callable[..., None],
    assert_same_weights: Same,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    epoch: int,
    batch: int,
) -> None:
    interrupt(KilledError(), epoch, batch)
    with pytest.raises(KilledError):
        train(tmp_path / "run")
    assert len(read_history(tmp_path / "run")) == epoch
    monkeypatch.undo()
    train(tmp_path / "run", resume=True)
    assert_same_run(tmp_path / "run", whole_run, assert_same_weights)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["BestPreset", "Checkpoint"])
@pytest.mark.parametrize("epoch", [0, 1])
def test_killed_between_log_and_checkpoint(
    whole_run: Path,
    train: Train,
    assert_same_weights: Same,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    name: str,
    epoch: int,
) -> None:
    """The epoch is in log.csv by then, yet it runs again: no row twice, and its model may become the best."""
    kind: Any = getattr(callbacks, name)
    original = kind.on_epoch_end

    def dying(self: Any, number: int, logs: Any = None) -> None:
        if number == epoch:
            raise KilledError
        original(self, number, logs)

    monkeypatch.setattr(kind, "on_epoch_end", dying)
    with pytest.raises(KilledError):
        train(tmp_path / "run")
    assert len(read_history(tmp_path / "run")) == epoch + 1
    monkeypatch.undo()
    train(tmp_path / "run", resume=True)
    assert_same_run(tmp_path / "run", whole_run, assert_same_weights)


@pytest.mark.usefixtures("without_graphs")
def test_resuming_keeps_the_best_score(whole_run: Path, train: Train, tmp_path: Path) -> None:
    """A first epoch recorded as unbeatable stays the best: its preset is not replaced."""
    run = shutil.copytree(whole_run, tmp_path / "run")
    rows = (run / "log.csv").read_text().splitlines()
    place = rows[0].split(",").index("val_rsum")
    first = rows[1].split(",")
    first[place] = "1200.0"
    (run / "log.csv").write_text("\n".join([rows[0], ",".join(first), *rows[2:]]) + "\n")
    before = (run / "best" / "model.weights.h5").read_bytes()
    config = json.loads((run / "run.json").read_text())
    config["config"]["train"]["epochs"] = 4
    (run / "run.json").write_text(json.dumps(config))
    train(run, resume=True, epochs=4)
    assert [row["epoch"] for row in read_history(run)] == ["0", "1", "2", "3"]
    assert (run / "best" / "model.weights.h5").read_bytes() == before


def test_resuming_a_finished_run_changes_nothing(
    whole_run: Path, train: Train, assert_same_weights: Same, tmp_path: Path
) -> None:
    shutil.copytree(whole_run, tmp_path / "run")
    train(tmp_path / "run", resume=True)
    assert_same_run(tmp_path / "run", whole_run, assert_same_weights)


def test_a_run_is_not_overwritten(whole_run: Path, train: Train) -> None:
    before = (whole_run / "last.weights.h5").read_bytes()
    with pytest.raises(ConfigError, match=r"run: there is a run here already\. Use --resume"):
        train(whole_run)
    assert (whole_run / "last.weights.h5").read_bytes() == before


def test_a_run_is_resumed_only_as_it_was_begun(
    whole_run: Path, train: Train, make_dataset: Callable[..., Dataset], tmp_path: Path
) -> None:
    expected = r"run\.json: the run there has another configuration or other data"
    with pytest.raises(ConfigError, match=expected):
        train(whole_run, resume=True, seed=5)
    other = make_dataset(tmp_path, seed=1)
    with pytest.raises(ConfigError, match=expected):
        train(whole_run, data=other.path, resume=True)


def test_impossible_run_folders(train: Train, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="file: found a file, expected a folder"):
        train(tmp_path / "file")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.json").write_text("{")
    (tmp_path / "run" / "last.weights.h5").write_bytes(b"")
    with pytest.raises(DataError, match=r"run\.json: not valid JSON"):
        train(tmp_path / "run", resume=True)


def test_a_run_without_a_finished_epoch_may_begin_anew(make_dataset: Callable[..., Dataset], tmp_path: Path) -> None:
    dataset = make_dataset(tmp_path)
    Run(tmp_path / "run", ContextAttentionConfig(), dataset)
    changed = ContextAttentionConfig(train=TrainConfig(seed=7))
    Run(tmp_path / "run", changed, dataset)
    assert read_json(tmp_path / "run" / "run.json")["config"]["train"]["seed"] == 7


@pytest.mark.parametrize("epoch", [0, pytest.param(1, marks=SLOW)])
@pytest.mark.usefixtures("without_graphs")
def test_ctrl_c_leaves_a_preset_that_loads(
    train: Train, interrupt: Callable[..., None], capsys: pytest.CaptureFixture[str], tmp_path: Path, epoch: int
) -> None:
    run = tmp_path / "run"
    interrupt(KeyboardInterrupt(), epoch)
    with pytest.raises(SystemExit) as caught:
        train(run)
    assert caught.value.code == 130
    assert f"Interrupted. The best model so far is in {run / 'best'}; go on with --resume." in capsys.readouterr().out
    embedded = presets.load(run).encode_text(["a red dog", ""], "en")
    np.testing.assert_allclose(np.linalg.norm(embedded, axis=1), 1.0, atol=1e-5)
    assert ("note" in presets.metadata(run)) == (epoch == 0)
