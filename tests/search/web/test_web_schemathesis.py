"""Requests made from the page's own OpenAPI description, right and wrong: answers are as it says, and none is 5xx."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vse_zoo.search import Index

pytestmark = pytest.mark.slow
CONFIG = """
# A description can't say that a sentence needs words, and that a picture can be decoded.
[checks]
positive_data_acceptance.expected-statuses = ["2xx", "400", "404"]
"""
LIMITS = ["--seed=1", "--max-examples=40", "--request-timeout=60", "--suppress-health-check=all", "--no-color"]


@pytest.mark.parametrize("index", ["attention", "sum"], indirect=True)
def test_answers_are_as_described(index: Index, serve: Callable[[Index], Any], tmp_path: Path) -> None:
    pytest.importorskip("schemathesis", reason="pip install 'vse-zoo[fuzz]'")
    (tmp_path / "schemathesis.toml").write_text(CONFIG)
    with serve(index) as address:
        command = [sys.executable, "-m", "schemathesis.cli", "run", f"{address}api/openapi.json", *LIMITS]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
