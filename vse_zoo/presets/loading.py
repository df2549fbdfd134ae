"""Preset folder → model."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import keras

from vse_zoo.errors import PresetError, located
from vse_zoo.files import read_json
from vse_zoo.presets.allowed import check_classes
from vse_zoo.presets.integrity import RECORD, check
from vse_zoo.presets.layout import CONFIG, COPIED, METADATA, PREPROCESSOR, WEIGHTS, fitting
from vse_zoo.presets.locations import resolve
from vse_zoo.presets.regions import note_regions

__all__ = ["languages", "load", "metadata"]


def load(preset: str | Path, load_weights: bool = True) -> Any:
    """The model of a preset with its weights and preprocessor, ready to encode; nothing in its files is executed.

    Args:
        preset: a built-in name (`names`), a preset folder, the folder of a training run, or a repository of the Hugging
            Face hub, ``hf://user/repo`` or ``hf://user/repo@revision``.
        load_weights: off, the weights are random, and their file isn't needed.

    Raises:
        PresetError: there is none, a file of it is missing, changed or does not fit, its format is newer than this
            version, or it asks for a class that isn't the zoo's.
    """
    folder = resolve(preset)
    check(folder, weights=load_weights)
    with fitting(folder / CONFIG):
        config = read_json(folder / CONFIG)
        check_classes(config, folder / CONFIG)
    preprocessor = _preprocessor(folder) if _takes_sentences(folder) else None
    with fitting(folder / CONFIG):
        model = _model(config, preprocessor)
    if load_weights:
        with fitting(folder / WEIGHTS):
            model.load_weights(folder / WEIGHTS)
    note_regions(model, metadata(folder))
    return model


def metadata(preset: str | Path) -> dict[str, Any]:
    """What is recorded beside a preset: origin, settings and figures."""
    path = resolve(preset) / METADATA
    with fitting(path):
        return {name: value for name, value in dict(read_json(path)).items() if name != RECORD}


def languages(preset: str | Path) -> tuple[str, ...]:
    """The languages of a preset's text encoders, without loading its weights; none if it takes no sentences."""
    path = resolve(preset) / PREPROCESSOR
    if not _takes_sentences(path.parent):
        return ()
    with fitting(path):
        return tuple(read_json(path)["languages"])


def _model(config: dict[str, Any], preprocessor: Any) -> Any:
    kind = keras.saving.get_registered_object(config["registered_name"])
    if not issubclass(kind, keras.Model):
        raise TypeError(f"found {kind.__name__}, expected a model.")
    config["config"]["preprocessor"] = keras.saving.serialize_keras_object(preprocessor)
    # Weights are made by the model's own `build`, and nothing that a file says about compiling it counts.
    described = {name: config[name] for name in ("module", "class_name", "config", "registered_name")}
    model = keras.saving.deserialize_keras_object(described, safe_mode=True)
    if not model.built:
        model.build()
    return model


def _takes_sentences(folder: Path) -> bool:
    """Whether the folder's model has a preprocessor, whether or not its file is there."""
    with fitting(folder / CONFIG):
        return "preprocessor" not in read_json(folder / CONFIG)["config"]


def _preprocessor(folder: Path) -> Any:
    path = folder / PREPROCESSOR
    if not path.is_file():
        raise PresetError(located(path, "missing; the model takes sentences and needs its preprocessor.", do=COPIED))
    with fitting(path):
        config = read_json(path)
        kind = keras.saving.get_registered_object(f"vse_zoo>{config['class']}")
        if kind is None:
            problem = f"found {config['class']!r}, which this version does not know."
            raise PresetError(located(path, problem, field="class"))
        for language in config["languages"]:
            # Languages are parts of file names.
            if not re.fullmatch(r"[\w-]+", language):
                problem = f"found {language!r}, expected letters, digits, _ and -."
                raise PresetError(located(path, problem, field="languages"))
        return kind.load(folder)
