"""What stands beside a preset's weights, read without Keras."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from vse_zoo.files import read_json
from vse_zoo.presets.integrity import RECORD
from vse_zoo.presets.layout import CONFIG, METADATA, PREPROCESSOR, fitting
from vse_zoo.presets.locations import resolve

__all__ = ["languages", "metadata", "takes_sentences"]


def metadata(preset: str | Path) -> dict[str, Any]:
    """What is recorded beside a preset: origin, settings and figures."""
    path = resolve(preset) / METADATA
    with fitting(path):
        return {name: value for name, value in dict(read_json(path)).items() if name != RECORD}


def languages(preset: str | Path) -> tuple[str, ...]:
    """The languages of a preset's text encoders, without loading its weights; none if it takes no sentences."""
    path = resolve(preset) / PREPROCESSOR
    if not takes_sentences(path.parent):
        return ()
    with fitting(path):
        return tuple(read_json(path)["languages"])


def takes_sentences(folder: Path) -> bool:
    """Whether the folder's model has a preprocessor, whether or not its file is there."""
    with fitting(folder / CONFIG):
        return "preprocessor" not in read_json(folder / CONFIG)["config"]
