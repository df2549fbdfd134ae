"""The recipe as a process of its own, killed with SIGKILL within an epoch and resumed."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from vse_zoo import registry
from vse_zoo.data import Dataset
from vse_zoo.training import read_history

# Several seconds an epoch, so that the signal arrives within one.
IMAGES = 900


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
