"""The benchmark of a SCAN folder of COCO's size, in small: it runs, and the features stay out of memory."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "scan_folder.py"


@pytest.mark.slow
def test_a_folder_larger_than_the_memory_allowed_opens_and_trains() -> None:
    """30,000 images of 36 × 2,048 float16 are 4.1 GiB, in a sparse file."""
    options = ["--images", "30000", "--steps", "8", "--batch-size", "64", "--units", "8"]
    done = subprocess.run([sys.executable, BENCHMARK, *options], stdout=subprocess.PIPE, text=True, check=True)
    found = {line[:20].strip(): json.loads(line[20:]) for line in done.stdout.splitlines()}
    assert found["opened"]["seconds"] < 2
    assert found["8 steps trained"]["VmHWM"] < 4
    assert found["written"] < 20
