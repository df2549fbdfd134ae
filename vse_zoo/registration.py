"""Keras finds the package's classes by name, although they are imported only when somebody uses them."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

import lazy_loader
import wrapt

__all__ = ["attach", "register_classes", "register_with_keras"]

_PACKAGES = ("regularizers", "layers", "losses", "metrics", "preprocessing", "models")
"""The packages that define classes for Keras, those that need no other first."""

_done = False
_thread = threading.local()


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
    """Imports every module of the package that registers a class with Keras, once in a process.

    While this thread imports a module of the package, nothing is done: that module may be one that the others need. The
    classes are registered when its import has ended.
    """
    global _done
    if _done or _importing():
        return
    with _import():
        for package in _PACKAGES:
            module = import_module(f"vse_zoo.{package}")
            for name in module.__all__:
                getattr(module, name)
    _done = True


def register_with_keras() -> None:
    """Registers the classes as soon as Keras is imported, so that ``keras.saving.load_model`` knows them."""
    sys.meta_path.insert(0, _Finder())
    wrapt.register_post_import_hook(lambda _: register_classes(), "keras")


class _Finder(MetaPathFinder):
    """Finds the package's modules as Python does, and sees when their imports begin and end."""

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        """The spec of a module of the package; None for every other module."""
        spec = PathFinder.find_spec(fullname, path, target) if fullname.startswith("vse_zoo.") else None
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def load_and_register(module: ModuleType) -> None:
                with _import():
                    load(module)
                if "keras" in sys.modules:
                    register_classes()

            spec.loader.exec_module = load_and_register  # type: ignore[method-assign]
        return spec


def _importing() -> bool:
    """Whether this thread is importing a module of the package. Each thread waits for what another one imports."""
    return getattr(_thread, "imports", 0) > 0


@contextmanager
def _import() -> Iterator[None]:
    _thread.imports = getattr(_thread, "imports", 0) + 1
    try:
        yield
    finally:
        _thread.imports -= 1
