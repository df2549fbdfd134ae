"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data: VSE_ZOO_DATA, or ../shared/data beside the checkout."""
    root = Path(os.environ.get("VSE_ZOO_DATA", Path(__file__).parents[2] / "shared" / "data"))
    if not root.is_dir():
        pytest.skip("no real data here: set VSE_ZOO_DATA to the folder that holds flickr8k/ and multi30k/")
    return root
