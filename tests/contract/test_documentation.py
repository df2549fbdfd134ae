"""Every public name exists and is documented: classes, their public methods, functions, and modules."""

from __future__ import annotations

import inspect
from pathlib import Path
from types import ModuleType


def documented(thing: object) -> bool:
    return bool((getattr(thing, "__doc__", None) or "").strip())


def test_a_public_name_exists_and_is_documented(contract: ModuleType, public_name: str) -> None:
    module_name, name = public_name.rsplit(".", 1)
    module = next(module for module in contract.modules() if module.__name__ == module_name)
    assert hasattr(module, name), f"{public_name} is in __all__ and not in the module"
    thing = getattr(module, name)
    if not (inspect.isclass(thing) or inspect.isroutine(thing)):
        return
    assert documented(thing), f"{public_name} has no docstring"
    if inspect.isclass(thing):
        for attribute, member in vars(thing).items():
            function = inspect.isroutine(member) or isinstance(member, property)
            if function and not attribute.startswith("_"):
                assert documented(member), f"{public_name}.{attribute} has no docstring"


def test_every_module_is_documented(contract: ModuleType) -> None:
    silent = [module for module in contract.modules() if not documented(module)]
    assert not [module.__name__ for module in silent if Path(module.__file__ or "").read_text(encoding="utf-8").strip()]


def test_every_module_with_public_code_says_what_is_public(contract: ModuleType) -> None:
    for module in contract.modules():
        own = [
            name
            for name, value in vars(module).items()
            if not name.startswith("_") and inspect.isfunction(value) and value.__module__ == module.__name__
        ]
        assert not own or hasattr(module, "__all__"), f"{module.__name__} defines {own} and has no __all__"


def test_every_registered_class_is_public(contract: ModuleType) -> None:
    public = set(map(id, contract.public().values()))
    hidden = [name for name, cls in contract.registered().items() if id(cls) not in public]
    assert not hidden, f"registered with Keras, but in no __all__: {hidden}"
