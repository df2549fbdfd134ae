"""Recipes by name: the scripts in recipes/, run as a script would be."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

from vse_zoo import registry
from vse_zoo.errors import ConfigError
from vse_zoo.registry import recipe_names

__all__ = ["train"]


def train(recipe: str, data: Path, out: Path, **options: Any) -> None:
    """Calls ``main`` of recipes/<recipe>.py; the options are its parameters, None leaves one at its default.

    Raises:
        ConfigError: there is no such recipe.
    """
    if recipe not in recipe_names():
        raise ConfigError(f"recipe: found {recipe!r}, expected one of: {', '.join(recipe_names())}.")
    given = {name: value for name, value in options.items() if value is not None}
    runpy.run_path(str(registry.recipes() / f"{recipe}.py"))["main"](data, out, **given)
