"""Where TensorFlow Text is missing, as it is on Windows, the message says what to do."""

from __future__ import annotations

import runpy
import sys
from importlib.util import find_spec

import pytest

from vse_zoo.errors import ConfigError


def test_a_missing_tensorflow_text_is_named_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = find_spec("vse_zoo.preprocessing.text_ops")
    assert spec is not None
    assert spec.origin is not None
    monkeypatch.setitem(sys.modules, "tensorflow_text", None)  # so that its import fails
    with pytest.raises(ConfigError, match=r"pip install tensorflow-text\..* Windows.*WSL 2"):
        runpy.run_path(spec.origin)
