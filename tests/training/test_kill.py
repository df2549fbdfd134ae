"""The recipe as a process of its own, killed with SIGKILL and started again by the same command."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from vse_zoo import presets, registry
from vse_zoo.data import Dataset
from vse_zoo.training import ContextAttentionConfig, Run, read_history

# Several seconds an epoch, so that the signal arrives within one.
IMAGES = 900
KILLS, EPOCHS = 20, 24


def start(data: Path, config: Path, out: Path, log: Path, *options: str) -> subprocess.Popen[bytes]:
    script = registry.recipes() / "context_attention.py"
    arguments = ["--data", data, "--out", out, "--config", config, *options]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", "PYTHONPATH": str(script.parents[1])}
    with log.open("wb") as file:
        return subprocess.Popen(
            [sys.executable, str(script), *map(str, arguments)], stdout=file, stderr=subprocess.STDOUT, env=environment
        )


def wait_for_second_epoch(process: subprocess.Popen[bytes], log: Path) -> None:
    """Until 20 steps or more of the second epoch are done."""
    while process.poll() is None:
        _, _, second = log.read_text(errors="replace").partition("Epoch 2/3")
        if any(int(step) >= 20 for step in re.findall(r"(\d+)/\d+\D", second)):
            return
        time.sleep(0.1)
    raise AssertionError(log.read_text(errors="replace")[-3000:])


@pytest.mark.slow
def test_killed_within_an_epoch_and_resumed(
    make_dataset: Callable[..., Dataset],
    config_file: Path,
    assert_same_weights: Callable[[Path, Path], None],
    tmp_path: Path,
) -> None:
    data = make_dataset(tmp_path, images=IMAGES).path
    whole, killed, log = tmp_path / "whole", tmp_path / "killed", tmp_path / "log.txt"
    assert start(data, config_file, whole, log).wait(timeout=300) == 0

    process = start(data, config_file, killed, log)
    try:
        wait_for_second_epoch(process, log)
    finally:
        process.kill()
    assert process.wait(timeout=30) == -signal.SIGKILL
    assert "Epoch 3/3" not in log.read_text(errors="replace")
    assert [row["epoch"] for row in read_history(killed)] == ["0"]

    assert start(data, config_file, killed, log, "--resume").wait(timeout=300) == 0
    assert_same_weights(killed / "last.weights.h5", whole / "last.weights.h5")
    assert_same_weights(killed / "best" / "model.weights.h5", whole / "best" / "model.weights.h5")
    assert read_history(killed) == read_history(whole)


def test_a_start_removes_what_a_killed_one_left(tiny: Dataset, tmp_path: Path) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    (tmp_path / "best" / f".{dead.pid}.saving" / "assets").mkdir(parents=True)
    (tmp_path / f".{dead.pid}.last.weights.h5").write_bytes(b"\x89HDF")
    Run(tmp_path, ContextAttentionConfig(), tiny, resume=True)
    assert {path.name for path in tmp_path.rglob("*")} == {"run.json", "best"}


def steps_shown(log: Path) -> bool:
    text = re.sub(r"Epoch \d+/\d+", "", log.read_text(errors="replace"))
    return re.search(r"\d+/\d+\D", text) is not None


def wait_for_first_step(process: subprocess.Popen[bytes], log: Path) -> None:
    while process.poll() is None and not steps_shown(log):
        time.sleep(0.02)


def killed_after(seconds: float, process: subprocess.Popen[bytes], log: Path) -> bool:
    """Kills the process so many seconds after its first step; whether it was still running then."""
    wait_for_first_step(process, log)
    try:
        process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
    code = process.wait(timeout=30)
    assert code in (0, -signal.SIGKILL), log.read_text(errors="replace")[-3000:]
    return code != 0


def files(run: Path) -> set[str]:
    """All files of a run but TensorBoard's, of which each start writes its own."""
    names = {str(path.relative_to(run)) for path in run.rglob("*") if path.is_file()}
    return {name for name in names if not name.startswith("tensorboard")}


@pytest.mark.slow
def test_killed_at_twenty_random_moments(
    tiny: Dataset, config_file: Path, assert_same_weights: Callable[[Path, Path], None], tmp_path: Path
) -> None:
    """Short epochs, of which saving takes a good part, so that signals arrive within it, too."""
    log, whole, config = tmp_path / "log.txt", tmp_path / "whole", tmp_path / "short.toml"
    config.write_text(f'{config_file.read_text()}languages = ["en"]\n')
    options = ("--epochs", str(EPOCHS), "--resume")
    process = start(tiny.path, config, whole, log, *options)
    wait_for_first_step(process, log)
    assert process.poll() is None
    began = time.monotonic()
    assert process.wait(timeout=600) == 0
    seconds = time.monotonic() - began
    random, kills, runs = np.random.default_rng(0), 0, 0
    while kills < KILLS:
        run = tmp_path / f"run{runs}"
        command = (tiny.path, config, run, log, *options)
        while kills < KILLS and killed_after(random.uniform(0, seconds), start(*command), log):
            kills += 1
        assert start(*command).wait(timeout=600) == 0
        runs += 1
        assert_same_weights(run / "last.weights.h5", whole / "last.weights.h5")
        assert_same_weights(run / "best" / "model.weights.h5", whole / "best" / "model.weights.h5")
        assert read_history(run) == read_history(whole)
        assert files(run) == files(whole)
        assert presets.metadata(run) == presets.metadata(whole)
        presets.check(run / "best")
