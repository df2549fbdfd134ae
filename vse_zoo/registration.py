"""Keras finds the package's classes by name, although they are imported only when somebody uses them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

import lazy_loader
import wrapt

__all__ = ["attach", "register_classes", "register_with_keras"]

_PACKAGES = ("regularizers", "layers", "losses", "metrics", "preprocessing", "models")
"""The packages that define classes for Keras, those that need no other first."""

_USED = (*_PACKAGES, "features")
"""With the package whose modules the models import: while one of them is imported, no model can be."""

_began = False


def attach(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Makes a package of `_PACKAGES` import its names when they are used, all of these packages at once.

    So whoever uses one class of the package can load a saved model that is made of the others.

    Args:
        package: The name of the package, ``__name__``.
        file: The file of the package, ``__file__``. The names stand in the ``.pyi`` file beside it.

    Returns:
        The package's ``__getattr__``, ``__dir__`` and ``__all__``.
    """
    find, listed, names = lazy_loader.attach_stub(package, file)

    def get(name: str) -> Any:
        if name in names:
            register_classes()
        return find(name)

    return get, listed, names


def register_classes() -> None:
    """Imports every module of the package that registers a class with Keras, once in a process."""
    global _began
    if _began:  # Also while it goes on: the modules use each other's packages.
        return
    _began = True
    for package in _PACKAGES:
        module = import_module(f"vse_zoo.{package}")
        for name in module.__all__:
            getattr(module, name)


def register_with_keras() -> None:
    """Registers the classes as soon as Keras is imported, so that ``keras.saving.load_model`` knows them."""
    wrapt.register_post_import_hook(_after_keras, "keras")


def _after_keras(keras: ModuleType) -> None:
    """Registers the classes, unless it was one of their own modules, or one that they use, that imported Keras."""
    own = tuple(f"vse_zoo.{package}." for package in _USED)
    if not any(name.startswith(own) for name in sys.modules):
        register_classes()
