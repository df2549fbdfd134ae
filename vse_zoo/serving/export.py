"""A model to a version folder that TensorFlow Serving loads: all in TensorFlow, no Python at serving time."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tensorflow as tf

from vse_zoo.errors import ConfigError, PresetError, located
from vse_zoo.features import Backbone
from vse_zoo.models import VSEModel
from vse_zoo.serving.checks import computed
from vse_zoo.serving.configuration import write_configuration
from vse_zoo.serving.pictures import PictureFeatures
from vse_zoo.serving.signatures import PICTURES, Signature, default_signature, signatures
from vse_zoo.serving.text import ServedText
from vse_zoo.serving.warmup import write_warmup

__all__ = ["Export", "export_saved_model"]

_DEFAULT = "serving_default"


@dataclass(frozen=True)
class Export:
    """What was exported.

    Args:
        path: the folder of the version.
        signatures: by name, without the default.
        default: the name of the one that is the default, too.
        left_out: what the export lacks, and why.
    """

    path: Path
    signatures: Mapping[str, Signature]
    default: str
    left_out: dict[str, str] = field(default_factory=dict)


def export_saved_model(
    model: VSEModel, folder: str | Path, version: int = 1, *, backbone: Backbone | None = None
) -> Export:
    """Writes ``folder/<version>/``, whole or not at all; and beside it, once, what configures a server.

    Args:
        model: a built model of the zoo.
        folder: the model's; its name is that of the served model. Made if missing; other versions stay as they are.
        version: a positive number that isn't there yet. A server loads the highest.
        backbone: what computes the model's regions from pictures, for ``encode_image_bytes``; by default the one that
            it was trained with.

    Returns:
        What was exported. It lacks ``encode_image_bytes`` where the backbone isn't recorded or can't be loaded, and the
        warm-up requests without tensorflow-serving-api.

    Raises:
        ConfigError: the version is there, or isn't positive, or the backbone's regions don't fit the model.
    """
    folder = Path(folder).resolve()
    target = folder / str(version)
    _check(target, version)
    pictures, left_out = _pictures(model, backbone)
    folder.mkdir(parents=True, exist_ok=True)
    # Servers pass over names that are no numbers.
    staging = Path(tempfile.mkdtemp(prefix=f".{version}.", dir=folder))
    try:
        served = _save(model, staging / "model", staging / "text", pictures)
        left_out |= _warm_up(staging / "model", folder.name, served)
        _rename(staging / "model", target)
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    write_configuration(folder)
    return Export(target, served, default_signature(model), left_out)


def _check(target: Path, version: int) -> None:
    if version < 1:
        raise ConfigError(f"version: found {version}, expected a positive number.")
    if target.parent.is_file():
        raise ConfigError(located(target.parent, "found a file, expected a folder.", do="Name another folder."))
    if target.exists():
        raise _taken(target)


def _pictures(model: VSEModel, backbone: Backbone | None) -> tuple[PictureFeatures | None, dict[str, str]]:
    """What the model sees pictures by, or the reason why it can't see any; a model of two matrices needs none."""
    if model.preprocessor is None:
        return None, {}
    try:
        return PictureFeatures(model.picture_encoder(backbone)), {}
    except PresetError as error:
        return None, {PICTURES: str(error)}


def _taken(target: Path) -> ConfigError:
    return ConfigError(located(target, "this version is there already.", do="Choose another version number."))


def _save(model: VSEModel, path: Path, texts: Path, pictures: PictureFeatures | None) -> dict[str, Signature]:
    root = tf.Module()
    text = ServedText(model.preprocessor, texts)
    root.tables = text.tables
    served = signatures(model, text.ids, pictures)
    functions = {name: _concrete(signature) for name, signature in served.items()}
    # The weights that the functions use, once, instead of the model with all that it tracks.
    found = {id(variable): variable for function in functions.values() for variable in function.graph.variables}
    root.weights = list(found.values())
    tf.saved_model.save(root, str(path), signatures={_DEFAULT: functions[default_signature(model)], **functions})
    return served


def _concrete(signature: Signature) -> Any:
    names, specs = list(signature.inputs), list(signature.inputs.values())

    def function(*tensors: Any) -> dict[str, Any]:
        found = signature.function(**dict(zip(names, tensors, strict=True)))
        return {name: computed(name, value) for name, value in found.items()}

    return tf.function(function, input_signature=specs, autograph=False).get_concrete_function()


def _warm_up(path: Path, name: str, served: Mapping[str, Signature]) -> dict[str, str]:
    try:
        write_warmup(path, name, served)
    except ConfigError as error:
        return {"warm-up": str(error)}
    return {}


def _rename(source: Path, target: Path) -> None:
    try:
        os.rename(source, target)
    except OSError:
        if target.exists():  # made by another process in the meantime
            raise _taken(target) from None
        raise
