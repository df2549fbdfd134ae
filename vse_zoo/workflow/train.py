"""Recipes by name: the scripts in recipes/, run as a script would be."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

from vse_zoo import registry
from vse_zoo.errors import ConfigError

__all__ = ["recipe_names", "train"]


def recipe_names() -> list[str]:
    """The recipes that train a model: those with a folder of configurations."""
    return sorted(path.name for path in (registry.recipes() / "configs").iterdir() if path.is_dir())


def train(recipe: str, data: Path, out: Path, **options: Any) -> None:
    """Calls ``main`` of recipes/<recipe>.py; the options are its parameters, None leaves one at its default.

    Raises:
        ConfigError: there is no such recipe.
    """
    if recipe not in recipe_names():
        raise ConfigError(f"recipe: found {recipe!r}, expected one of: {', '.join(recipe_names())}.")
    given = {name: value for name, value in options.items() if value is not None}
    runpy.run_path(str(registry.recipes() / f"{recipe}.py"))["main"](data, out, **given)
