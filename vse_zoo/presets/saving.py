"""Model → preset folder."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import keras

from vse_zoo.files import remove_leftovers, temporary_path, write_json
from vse_zoo.presets.integrity import record_hashes
from vse_zoo.presets.layout import ASSETS, CONFIG, METADATA, WEIGHTS, read_by_loading
from vse_zoo.presets.regions import take_regions

__all__ = ["save"]


def save(model: Any, folder: str | Path, metadata: dict[str, Any] | None = None) -> None:
    """Writes a model as a preset, with the hashes of its files; a card that is there stays.

    A model that computes in mixed precision has float32 weights, and its preset computes in float32.
    All files are written and hashed before the first takes its place, so that a kill can hardly leave files of two
    models side by side; if it does, the hashes tell.

    Args:
        model: a built model of the zoo.
        folder: made if missing.
        metadata: figures and origin, plain JSON values. Where it names no backbone under "dataset", the model's own is
            added there, if that is known.
    """
    folder = Path(folder)
    staged = temporary_path(folder / "saving")
    remove_leftovers(folder)
    staged.mkdir(parents=True)
    try:
        _write(_uncompiled(model), staged, metadata or {})
        _replace(staged, folder)
    finally:
        shutil.rmtree(staged)


def _write(model: Any, folder: Path, metadata: dict[str, Any]) -> None:
    config = keras.saving.serialize_keras_object(model)
    if model.preprocessor is not None:
        # Its files hold it, so that the vocabulary is there once.
        del config["config"]["preprocessor"]
        model.preprocessor.save(folder)
    write_json(folder / METADATA, take_regions(config["config"], metadata))
    write_json(folder / CONFIG, config)
    model.save_weights(folder / WEIGHTS)
    record_hashes(folder)


def _replace(staged: Path, folder: Path) -> None:
    files = read_by_loading(staged)
    for name in set(read_by_loading(folder)) - set(files):
        (folder / name).unlink()
    if (staged / ASSETS).is_dir():
        (folder / ASSETS).mkdir(exist_ok=True)
    for name in (*files, METADATA):
        os.replace(staged / name, folder / name)


def _uncompiled(model: Any) -> Any:
    """A copy without the optimiser, whose state is twice the weights and of no use to those who load the preset."""
    copy = type(model).from_config(_without_mixed_precision(model.get_config()))
    copy.build()
    copy.set_weights(model.get_weights())
    return copy


def _without_mixed_precision(config: Any) -> Any:
    """A configuration with float32 in the place of mixed policies, at any depth."""
    if isinstance(config, list | tuple):
        return type(config)(_without_mixed_precision(value) for value in config)
    if not isinstance(config, dict):
        return config
    if config.get("class_name") == "DTypePolicy" and config["config"]["name"].startswith("mixed_"):
        return keras.saving.serialize_keras_object(keras.DTypePolicy("float32"))
    return {name: _without_mixed_precision(value) for name, value in config.items()}
