"""Preset folder → model."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import keras

from vse_zoo.errors import PresetError, located
from vse_zoo.files import read_json
from vse_zoo.presets.allowed import Classes, check_classes, registered_names
from vse_zoo.presets.integrity import check
from vse_zoo.presets.layout import CONFIG, COPIED, PREPROCESSOR, WEIGHTS, fitting
from vse_zoo.presets.locations import resolve
from vse_zoo.presets.records import metadata, takes_sentences
from vse_zoo.presets.regions import note_regions
from vse_zoo.registration import register_classes

__all__ = ["load"]


def load(
    preset: str | Path,
    load_weights: bool = True,
    *,
    trusted_classes: Iterable[type] = (),
    dtype: Any = None,
    **losses: Any,
) -> Any:
    """The model of a preset with its weights and preprocessor, ready to encode; nothing in its files is executed.

    Args:
        preset: a built-in name (`names`), a preset folder, the folder of a training run, or a repository of the Hugging
            Face hub, ``hf://user/repo`` or ``hf://user/repo@revision``.
        load_weights: off, the weights are random, and their file isn't needed.
        trusted_classes: classes of your own that the preset may be made of: its model, layers, losses, preprocessor.
        dtype: the precision to compute in, such as "mixed_bfloat16"; the preset's own by default, which is float32.
        losses: layers that replace the model's losses, such as ``ranking_loss=vse_zoo.losses.TripletLoss()``.

    Raises:
        PresetError: there is none, a file of it is missing, changed or does not fit, its format is newer than this
            version, or it asks for a class that is neither the zoo's nor trusted.
        TypeError: the model has no such loss, a loss is no layer, or a trusted class is no class.
    """
    register_classes()
    trusted = registered_names(trusted_classes)
    folder = resolve(preset)
    check(folder, weights=load_weights)
    with fitting(folder / CONFIG):
        config = read_json(folder / CONFIG)
        check_classes(config, folder / CONFIG, trusted)
    preprocessor = _preprocessor(folder, trusted) if takes_sentences(folder) else None
    with fitting(folder / CONFIG):
        if dtype is not None:
            config["config"]["dtype"] = dtype
        model = _model(config, preprocessor, trusted)
    if load_weights:
        with fitting(folder / WEIGHTS):
            model.load_weights(folder / WEIGHTS)
    if losses:
        # Only now: the file has the weights of the preset's own losses.
        model.replace_losses(**losses)
    note_regions(model, metadata(folder))
    return model


def _model(config: dict[str, Any], preprocessor: Any, trusted: Classes) -> Any:
    name = config["registered_name"]
    kind = trusted.get(name) or keras.saving.get_registered_object(name)
    if not issubclass(kind, keras.Model):
        raise TypeError(f"found {kind.__name__}, expected a model.")
    config["config"]["preprocessor"] = keras.saving.serialize_keras_object(preprocessor)
    # Weights are made by the model's own `build`, and nothing that a file says about compiling it counts.
    described = {name: config[name] for name in ("module", "class_name", "config", "registered_name")}
    model = keras.saving.deserialize_keras_object(described, custom_objects=trusted, safe_mode=True)
    if not model.built:
        model.build()
    return model


def _preprocessor(folder: Path, trusted: Classes) -> Any:
    path = folder / PREPROCESSOR
    if not path.is_file():
        raise PresetError(located(path, "missing; the model takes sentences and needs its preprocessor.", do=COPIED))
    with fitting(path):
        config = read_json(path)
        own = {cls.__name__: cls for cls in trusted.values()}
        kind: Any = own.get(config["class"]) or keras.saving.get_registered_object(f"vse_zoo>{config['class']}")
        if kind is None:
            problem = f"found {config['class']!r}, which this version does not know."
            do = "If the class is yours, pass it: vse_zoo.load(…, trusted_classes=(TheClass,))."
            raise PresetError(located(path, problem, field="class", do=do))
        for language in config["languages"]:
            # Languages are parts of file names.
            if not re.fullmatch(r"[\w-]+", language):
                problem = f"found {language!r}, expected letters, digits, _ and -."
                raise PresetError(located(path, problem, field="languages"))
        return kind.load(folder)
