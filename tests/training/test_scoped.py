"""In a strategy's scope presets load with the same numbers, and .keras files go on with training as one device does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).parent / "scoped.py"


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, np.ndarray]:
    folder = tmp_path_factory.mktemp("scoped")
    environment = {**os.environ, "PYTHONPATH": str(SCRIPT.parents[2])}
    command = [sys.executable, str(SCRIPT), str(folder / "found.npz"), str(folder)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "shuffle" not in done.stderr
    with np.load(folder / "found.npz") as arrays:
        return dict(arrays)


def pairs(found: dict[str, np.ndarray], one: str, other: str) -> list[tuple[np.ndarray, np.ndarray]]:
    return [(array, found[name.replace(one, other)]) for name, array in found.items() if name.startswith(one)]


def test_presets_load_alike_in_a_scope(found: dict[str, np.ndarray]) -> None:
    loaded = pairs(found, "load/in/", "load/out/")
    assert len(loaded) == 2
    for inside, outside in loaded:
        np.testing.assert_array_equal(inside, outside)


def test_a_keras_file_goes_on_with_two_replicas_as_with_one_device(found: dict[str, np.ndarray]) -> None:
    """To 1e-5, as the sums of two replicas are rounded in another order."""
    trained = pairs(found, "train/mirrored/", "train/none/")
    assert len(trained) > 20
    for mirrored, single in trained:
        np.testing.assert_allclose(mirrored, single, rtol=1e-5, atol=1e-5)
