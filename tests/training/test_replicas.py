"""Training on two and three replicas gives the weights and figures of one device, and needs gathering for it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

SCRIPT = Path(__file__).parent / "replicas.py"
KINDS = ("context_attention", "optimal_transport", "two_way_net")
Arrays = dict[str, np.ndarray]


def trained(folder: Path, kinds: str, counts: str, *options: str) -> Arrays:
    """Weights and figures by "count/model/number name"."""
    out = folder / "found.npz"
    environment = {**os.environ, "PYTHONPATH": str(SCRIPT.parents[2])}
    command = [sys.executable, str(SCRIPT), str(out), kinds, counts, *options]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=2400)
    assert done.returncode == 0, done.stderr[-3000:]
    with np.load(out) as found:
        return dict(found)


def of(found: Arrays, count: int, kind: str) -> Arrays:
    """What was found with so many replicas, by number and name; names differ between the models of one process."""
    prefix = f"{count}/{kind}/"
    return {name.removeprefix(prefix): value for name, value in found.items() if name.startswith(prefix)}


def assert_alike(one: Arrays, other: Arrays) -> None:
    assert len(one) == len(other) > 10
    for (name, expected), value in zip(one.items(), other.values(), strict=True):
        tolerance = {"rtol": 1e-5} if " figure " in name else {"rtol": 0, "atol": 1e-5}
        np.testing.assert_allclose(value, expected, **tolerance, err_msg=name)  # type: ignore[arg-type]


def largest_difference(one: Arrays, other: Arrays) -> float:
    pairs = zip(one.items(), other.values(), strict=True)
    return max(float(np.abs(value - expected).max()) for (name, expected), value in pairs if " figure " not in name)


# Tracing the steps of replicas takes long.
@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_two_replicas_equal_one_device(kind: str, tmp_path: Path) -> None:
    found = trained(tmp_path, kind, "1,2")
    assert_alike(of(found, 1, kind), of(found, 2, kind))


@pytest.mark.slow
def test_three_replicas_equal_one_device(tmp_path: Path) -> None:
    """In a quarter of the steps one of the three has no row."""
    found = trained(tmp_path, ",".join(KINDS), "1,3")
    for kind in KINDS:
        assert_alike(of(found, 1, kind), of(found, 3, kind))


@pytest.mark.slow
def test_without_gathering_the_weights_are_others(tmp_path: Path) -> None:
    """Otherwise the tests above would show nothing."""
    kinds = "two_way_net,context_attention"
    found = trained(tmp_path, kinds, "1,2", "ungathered")
    for kind in kinds.split(","):
        assert largest_difference(of(found, 1, kind), of(found, 2, kind)) > 1e-3
