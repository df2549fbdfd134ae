"""Preset folder → model."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import keras

from vse_zoo.errors import PresetError, located
from vse_zoo.files import read_json
from vse_zoo.presets.allowed import check_classes
from vse_zoo.presets.integrity import check
from vse_zoo.presets.layout import CONFIG, COPIED, PREPROCESSOR, WEIGHTS, fitting
from vse_zoo.presets.locations import resolve
from vse_zoo.presets.records import takes_sentences
from vse_zoo.registration import register_classes

__all__ = ["load"]


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
    register_classes()
    folder = resolve(preset)
    check(folder, weights=load_weights)
    with fitting(folder / CONFIG):
        config = read_json(folder / CONFIG)
        check_classes(config, folder / CONFIG)
    preprocessor = _preprocessor(folder) if takes_sentences(folder) else None
    with fitting(folder / CONFIG):
        model = _model(config, preprocessor)
    if load_weights:
        with fitting(folder / WEIGHTS):
            model.load_weights(folder / WEIGHTS)
    return model


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
