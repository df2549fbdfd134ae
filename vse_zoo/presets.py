"""Preset folder ↔ model.

config.json, model.weights.h5, metadata.json; for a model that takes sentences preprocessor.json and assets/; and, for
built-in models, a card written by hand: README.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import keras

from vse_zoo.errors import PresetError, VSEZooError, located
from vse_zoo.files import read_json, replacing, write_json
from vse_zoo.registry import saved_models

__all__ = ["languages", "load", "metadata", "names", "resolve", "save"]

_CONFIG, _WEIGHTS, _PREPROCESSOR = "config.json", "model.weights.h5", "preprocessor.json"
_COPIED = "Was the folder copied whole?"


def names() -> list[str]:
    """The built-in models that `load` finds by name."""
    return sorted(path.parent.name for path in saved_models().glob(f"*/{_CONFIG}") if _is_model(path.parent))


def resolve(preset: str | Path) -> Path:
    """The folder of a preset: a local folder, a training run (its best model), or a built-in name."""
    for folder in (Path(preset), Path(preset) / "best", saved_models() / str(preset)):
        if _is_model(folder):
            return folder
    known = ", ".join(names()) or "none"
    raise PresetError(f"preset: found neither a model folder nor a built-in model {str(preset)!r}; built in: {known}.")


def load(preset: str | Path) -> Any:
    """The model of a preset with its weights and preprocessor, ready to encode.

    Args:
        preset: a built-in name (`names`), a preset folder, or the folder of a training run.

    Raises:
        PresetError: there is none, or a file of it is missing or does not fit.
    """
    folder = resolve(preset)
    preprocessor = _preprocessor(folder) if _takes_sentences(folder) else None
    with _fitting(folder / _CONFIG):
        config = read_json(folder / _CONFIG)
        config["config"]["preprocessor"] = keras.saving.serialize_keras_object(preprocessor)
        model = keras.saving.deserialize_keras_object(config)
        if not model.built:
            model.build()
    with _fitting(folder / _WEIGHTS):
        model.load_weights(folder / _WEIGHTS)
    return model


def save(model: Any, folder: str | Path, metadata: dict[str, Any] | None = None) -> None:
    """Writes a model as a preset; each file is replaced whole, the weights last.

    Args:
        model: a built model of the zoo.
        folder: made if missing.
        metadata: figures and origin, plain JSON values.
    """
    folder = Path(folder)
    # Without the optimiser, whose state is twice the weights and of no use to those who load the preset.
    model = _uncompiled(model)
    config = keras.saving.serialize_keras_object(model)
    if model.preprocessor is not None:
        # Its files hold it, so that the vocabulary is there once.
        del config["config"]["preprocessor"]
        model.preprocessor.save(folder)
    write_json(folder / _CONFIG, config)
    write_json(folder / "metadata.json", metadata or {})
    with replacing(folder / _WEIGHTS) as temporary:
        model.save_weights(temporary)


def metadata(preset: str | Path) -> dict[str, Any]:
    """What is recorded beside a preset: origin, settings and figures."""
    path = resolve(preset) / "metadata.json"
    with _fitting(path):
        return dict(read_json(path))


def languages(preset: str | Path) -> tuple[str, ...]:
    """The languages of a preset's text encoders, without loading its weights; none if it takes no sentences."""
    path = resolve(preset) / _PREPROCESSOR
    if not _takes_sentences(path.parent):
        return ()
    with _fitting(path):
        return tuple(read_json(path)["languages"])


def _uncompiled(model: Any) -> Any:
    copy = type(model).from_config(model.get_config())
    copy.build()
    copy.set_weights(model.get_weights())
    return copy


def _is_model(folder: Path) -> bool:
    """Whether a folder holds a model, rather than a backbone or nothing; a damaged one counts."""
    if (folder / _PREPROCESSOR).is_file():
        return True
    try:
        return (folder / _CONFIG).is_file() and "class" not in read_json(folder / _CONFIG)
    except VSEZooError:
        return True


def _takes_sentences(folder: Path) -> bool:
    """Whether the folder's model has a preprocessor, whether or not its file is there."""
    with _fitting(folder / _CONFIG):
        return "preprocessor" not in read_json(folder / _CONFIG)["config"]


def _preprocessor(folder: Path) -> Any:
    path = folder / _PREPROCESSOR
    with _fitting(path):
        name = read_json(path)["class"]
        kind = keras.saving.get_registered_object(f"vse_zoo>{name}")
        if kind is None:
            raise PresetError(located(path, f"found {name!r}, which this version does not know.", field="class"))
        return kind.load(folder)


@contextmanager
def _fitting(path: Path) -> Iterator[None]:
    """Whatever a missing, damaged or foreign file raises becomes a `PresetError` that names it."""
    try:
        yield
    except PresetError:
        raise
    except VSEZooError as error:
        raise PresetError(f"{error} {_COPIED}") from error
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RuntimeError) as error:
        problem = f"damaged, or of another model: {type(error).__name__}: {str(error).strip()}"
        raise PresetError(located(path, problem, do=_COPIED)) from error
