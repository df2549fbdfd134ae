"""What a preset's config.json may ask for: an allow list, checked before Keras reads the configuration."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from pathlib import Path
from types import MappingProxyType
from typing import Any

import keras

from vse_zoo.errors import PresetError, located

__all__ = ["Classes", "check_classes", "registered_names"]

_OURS, _HUB = "vse_zoo>", "keras_hub>"
_KERAS = (
    keras.DTypePolicy,
    keras.initializers.Initializer,
    keras.regularizers.Regularizer,
    keras.constraints.Constraint,
)
"""What layers of Keras are told by, numbers and names alone."""

Classes = Mapping[str, type]


def registered_names(classes: Iterable[type]) -> dict[str, type]:
    """Classes that the caller of `vse_zoo.load` supplies, by the names that Keras knows them by.

    Raises:
        TypeError: something isn't a class that Keras can make from a configuration, or another class has its name.
    """
    found: dict[str, type] = {}
    for cls in (classes,) if isinstance(classes, type) else classes:
        if not isinstance(cls, type) or not hasattr(cls, "from_config"):
            raise TypeError(
                f"trusted_classes: found {cls!r}, expected a class with from_config, such as a keras.Model."
            )
        name = keras.saving.get_registered_name(cls)
        known = keras.saving.get_registered_object(name)
        if known not in (None, cls) or found.setdefault(name, cls) is not cls:
            raise TypeError(f"trusted_classes: found two classes by the name {name!r}. Register each by its own name.")
    return found


def check_classes(config: Any, path: Path, trusted: Classes = MappingProxyType({}), place: str = "") -> None:
    """Walks a configuration; a `PresetError` at the first class or function that no model of the zoo is made of.

    Allowed are the classes that vse_zoo registers, backbones of KerasHub, Keras' precision policies, initializers,
    regularizers and constraints, and classes that the caller trusts. So no module is imported, no function looked up
    and no code (``Lambda``, ``__lambda__``) unpacked because a file names it.

    Args:
        config: parsed JSON.
        path: its file, for the message.
        trusted: classes of the caller's, from `registered_names`.
        place: where in the file it stands, likewise.
    """
    if isinstance(config, list):
        for number, value in enumerate(config):
            check_classes(value, path, trusted, f"{place}[{number}]")
    if isinstance(config, dict):
        if {"class_name", "registered_name"} & set(config):
            _check_class(config, path, trusted, place)
        for name, value in config.items():
            check_classes(value, path, trusted, f"{place}.{name}".lstrip("."))


def _check_class(config: dict[str, Any], path: Path, trusted: Classes, place: str) -> None:
    module, name, registered = (config.get(key) for key in ("module", "class_name", "registered_name"))
    if registered is None:
        kind = _of_keras(module, name)
        if kind in trusted.values() or (isinstance(kind, type) and issubclass(kind, _KERAS)):
            return
    if isinstance(registered, str):
        kind = trusted.get(registered) or _known(registered)
        # Keras looks for some things, such as functions, by another name than the registered one.
        if kind is not None and kind.__name__ == name:
            return
    problem = (
        f"found class {name!r} (module {module!r}, registered as {registered!r}), expected one that this version of "
        "vse_zoo registers, a backbone of keras_hub or a DTypePolicy: a preset is data and brings no code."
    )
    do = "If the class is yours, or you trust its author, pass it: vse_zoo.load(…, trusted_classes=(TheClass,))."
    raise PresetError(located(path, problem, field=place or None, do=do))


def _known(registered: str) -> type | None:
    """A class of ours, or a backbone of KerasHub; None for anything else."""
    expected: type = object
    if registered.startswith(_HUB):
        import keras_hub  # takes seconds, and only encoders need it; registers its backbones

        expected = keras_hub.models.Backbone
    elif not registered.startswith(_OURS):
        return None
    kind = keras.saving.get_registered_object(registered)
    return kind if isinstance(kind, type) and issubclass(kind, expected) else None


def _of_keras(module: Any, name: Any) -> Any:
    """What stands under a public name of Keras; None if nothing does."""
    if not isinstance(module, str) or not isinstance(name, str) or module.split(".")[0] != "keras":
        return None
    return reduce(lambda found, part: getattr(found, part, None), [*module.split(".")[1:], name], keras)
