"""What a preset's config.json may ask for: an allow list, checked before Keras reads the configuration."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import keras

from vse_zoo.errors import PresetError, located

__all__ = ["check_classes"]

_OURS, _HUB = "vse_zoo>", "keras_hub>"
_KERAS = ("DTypePolicy", "DTypePolicyMap")


def check_classes(config: Any, path: Path, place: str = "") -> None:
    """Walks a configuration; a `PresetError` at the first class or function that no model of the zoo is made of.

    Allowed are the classes that vse_zoo registers, backbones of KerasHub, and Keras' precision policies. So no module
    is imported, no function looked up and no code (``Lambda``, ``__lambda__``) unpacked because a file names it.

    Args:
        config: parsed JSON.
        path: its file, for the message.
        place: where in the file it stands, likewise.
    """
    if isinstance(config, list):
        for number, value in enumerate(config):
            check_classes(value, path, f"{place}[{number}]")
    if isinstance(config, dict):
        if {"class_name", "registered_name"} & set(config):
            _check_class(config, path, place)
        for name, value in config.items():
            check_classes(value, path, f"{place}.{name}".lstrip("."))


def _check_class(config: dict[str, Any], path: Path, place: str) -> None:
    module, name, registered = (config.get(key) for key in ("module", "class_name", "registered_name"))
    if module == "keras" and name in _KERAS and registered is None:
        return
    if isinstance(registered, str) and registered.startswith((_OURS, _HUB)) and _is_known(registered):
        return
    problem = (
        f"found class {name!r} (module {module!r}, registered as {registered!r}), expected one that this version of "
        "vse_zoo registers, a backbone of keras_hub or a DTypePolicy: a preset is data and brings no code."
    )
    raise PresetError(located(path, problem, field=place or None))


def _is_known(registered: str) -> bool:
    if registered.startswith(_OURS):
        return isinstance(keras.saving.get_registered_object(registered), type)
    import keras_hub  # takes seconds, and only encoders need it; registers its backbones

    kind = keras.saving.get_registered_object(registered)
    return isinstance(kind, type) and issubclass(kind, keras_hub.models.Backbone)
