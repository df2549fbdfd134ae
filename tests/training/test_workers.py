"""Two processes as two machines: they train as one process does, the chief alone writes, and a kill can be undone."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

from vse_zoo import presets, registry
from vse_zoo.data import Dataset, write_two_view
from vse_zoo.training import read_history

pytestmark = pytest.mark.slow

# Five rows for two workers, batch normalisation, hard negatives, two languages; no dropout, whose masks would differ.
LEARNING = """
[optimizer]
schedule = "cosine"
learning_rate = 0.01
[train]
epochs = 3
batch_size = 5
"""
MODELS = {
    "context_attention": {"units": 8, "heads": 2, "attention_dim": 4, "word_dim": 8},
    "optimal_transport": {"units": 8, "word_dim": 8, "language_weight": 0.2},
    "two_way_net": {"layer_sizes": [6, 3, 6], "canonical_weight": 0.1},
}
Process = subprocess.Popen[bytes]


@pytest.fixture(scope="module")
def data(tiny: Dataset, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """What each recipe trains on."""
    random = np.random.default_rng(0)
    splits = {
        split: tuple(random.normal(2, 1, size=(rows, size)).astype("float32") for size in (5, 7))
        for split, rows in (("train", 48), ("dev", 32))
    }
    views = write_two_view(tmp_path_factory.mktemp("views") / "data", splits, name="tiny", origin="drawn")  # type: ignore[arg-type]
    return {"context_attention": tiny.path, "optimal_transport": tiny.path, "two_way_net": views.path}


def write_config(path: Path, recipe: str, dropout: float = 0.0) -> Path:
    lines = [f"{name} = {value}" for name, value in {**MODELS[recipe], "dropout": dropout}.items()]
    learning = LEARNING + "minimum_count = 1\n"
    if recipe == "two_way_net":
        learning = LEARNING.replace("[optimizer]", '[optimizer]\nkind = "sgd"').replace("0.01", "0.001")
    path.write_text("\n".join(["[model]", *lines, learning]))
    return path


def free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("localhost", 0))
    ports = [int(each.getsockname()[1]) for each in sockets]
    for each in sockets:
        each.close()
    return ports


def start(recipe: str, log: Path, *options: object, **variables: str) -> Process:
    script = registry.recipes() / f"{recipe}.py"
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", "PYTHONPATH": str(script.parents[1]), **variables}
    with log.open("wb") as file:
        command = [sys.executable, str(script), *map(str, options)]
        return subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT, env=environment)


def start_workers(recipe: str, folder: Path, outs: list[Path], *options: object) -> list[Process]:
    """A process for each run folder in ``outs``."""
    addresses = [f"localhost:{port}" for port in free_ports(len(outs))]
    processes = []
    for index, out in enumerate(outs):
        task = {"cluster": {"worker": addresses}, "task": {"type": "worker", "index": index}}
        given = ("--out", out, "--strategy", "multi_worker", *options)
        processes.append(start(recipe, folder / f"worker{index}.log", *given, TF_CONFIG=json.dumps(task)))
    return processes


def finish(processes: list[Process], folder: Path) -> None:
    """Waits for all to end well."""
    try:
        codes = [process.wait(timeout=2400) for process in processes]
    finally:
        for process in processes:
            process.kill()
    logs = [path.read_text(errors="replace")[-3000:] for path in sorted(folder.glob("*.log"))]
    assert codes == [0] * len(processes), "\n".join(logs)


def weights(path: Path) -> dict[str, np.ndarray]:
    found: dict[str, np.ndarray] = {}
    with h5py.File(path) as file:
        file.visititems(lambda name, item: found.update({name: item[()]}) if isinstance(item, h5py.Dataset) else None)
    return found


def assert_alike(one: Path, other: Path) -> None:
    """The model's weights; the optimiser's squares and means of gradients are of any size."""
    first, second = weights(one), weights(other)
    assert first.keys() == second.keys()
    names = [name for name in first if not name.startswith("optimizer")]
    assert len(names) > 10
    for name in names:
        np.testing.assert_allclose(second[name], first[name], rtol=0, atol=1e-5, err_msg=name)


@pytest.mark.parametrize("recipe", MODELS)
def test_two_workers_train_as_one_process(recipe: str, data: dict[str, Path], tmp_path: Path) -> None:
    options = ("--data", data[recipe], "--config", write_config(tmp_path / "config.toml", recipe))
    one, chief, other = (tmp_path / name for name in ("one", "chief", "other"))
    finish([start(recipe, tmp_path / "one.log", "--out", one, *options)], tmp_path)
    finish(start_workers(recipe, tmp_path, [chief, other], *options), tmp_path)
    assert_alike(one / "last.weights.h5", chief / "last.weights.h5")
    assert not other.exists()
    for row, expected in zip(read_history(chief), read_history(one), strict=True):
        assert row.keys() == expected.keys()
        found, values = ([float(value) for value in each.values()] for each in (row, expected))
        np.testing.assert_allclose(found, values, rtol=1e-4, atol=1e-4)
    assert presets.metadata(chief)["epoch"] == presets.metadata(one)["epoch"]


def wait_for_second_epoch(process: Process, log: Path, step: int = 20) -> None:
    while process.poll() is None:
        _, _, second = log.read_text(errors="replace").partition("Epoch 2/3")
        if any(int(done) >= step for done in re.findall(r"(\d+)/\d+\D", second)):
            return
        time.sleep(0.1)
    raise AssertionError(log.read_text(errors="replace")[-3000:])


@pytest.mark.parametrize("recipe", MODELS)
def test_resumes_after_a_worker_was_killed(
    recipe: str,
    data: dict[str, Path],
    assert_same_weights: Callable[[Path, Path], None],
    tmp_path: Path,
) -> None:
    options = ("--data", data[recipe], "--config", write_config(tmp_path / "config.toml", recipe, dropout=0.3))
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    finish(start_workers(recipe, tmp_path, [whole] * 2, *options), tmp_path)

    processes = start_workers(recipe, tmp_path, [killed] * 2, *options)
    try:
        wait_for_second_epoch(processes[0], tmp_path / "worker0.log", step=3)
        processes[1].kill()
        assert processes[1].wait(timeout=30) == -signal.SIGKILL
        # What is left of a cluster is ended, as SLURM and Kubernetes do, unless it noticed by itself.
        try:
            processes[0].wait(timeout=60)
        except subprocess.TimeoutExpired:
            processes[0].kill()
    finally:
        for process in processes:
            process.kill()
    assert len(read_history(killed)) < 3
    finish(start_workers(recipe, tmp_path, [killed] * 2, *options, "--resume"), tmp_path)
    assert_same_weights(killed / "last.weights.h5", whole / "last.weights.h5")
    assert_same_weights(killed / "best" / "model.weights.h5", whole / "best" / "model.weights.h5")
    assert read_history(killed) == read_history(whole)


def test_workers_that_resume_from_different_folders_are_stopped(data: dict[str, Path], tmp_path: Path) -> None:
    recipe = "two_way_net"
    options = ("--data", data[recipe], "--config", write_config(tmp_path / "config.toml", recipe), "--epochs", 1)
    chief, other = tmp_path / "chief", tmp_path / "other"
    finish([start(recipe, tmp_path / "one.log", "--out", chief, *options)], tmp_path)
    processes = start_workers(recipe, tmp_path, [chief, other], *options, "--resume")
    assert [process.wait(timeout=2400) for process in processes] == [1, 1]
    for index in range(2):
        log = " ".join((tmp_path / f"worker{index}.log").read_text(errors="replace").split())
        assert f"the workers differ in epochs done; this one has {1 - index}" in log
