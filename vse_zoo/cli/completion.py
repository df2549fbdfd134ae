"""What the shell offers when a user presses the tab key."""

from __future__ import annotations

from pathlib import Path

import typer

from vse_zoo import registry

__all__ = ["backbones", "configurations", "models", "presets", "recipes"]


def presets(incomplete: str) -> list[str]:
    """The built-in presets that begin with what is typed."""
    from vse_zoo.presets import names

    return _beginning(names(), incomplete)


def models(incomplete: str) -> list[str]:
    """The built-in presets, and the folders that begin with what is typed."""
    parent = Path(incomplete).parent if not incomplete.endswith("/") else Path(incomplete)
    folders = [str(path) for path in parent.glob("*") if path.is_dir() and not path.name.startswith(".")]
    return presets(incomplete) + sorted(_beginning(folders, incomplete))


def recipes(incomplete: str) -> list[str]:
    """The recipes that begin with what is typed."""
    return _beginning(registry.recipe_names(), incomplete)


def configurations(context: typer.Context, incomplete: str) -> list[str]:
    """The configurations of the recipe that is typed already, or of all recipes."""
    recipe = context.params.get("recipe")
    known = [recipe] if recipe in registry.recipe_names() else registry.recipe_names()
    found = {path.stem for name in known for path in (registry.recipes() / "configs" / name).glob("*.toml")}
    return _beginning(sorted(found), incomplete)


def backbones(incomplete: str) -> list[str]:
    """The built-in backbone and the prefixes of the others."""
    from vse_zoo.features.backbone_names import BUILT_IN, KERAS, KERAS_HUB

    return _beginning([BUILT_IN, KERAS, KERAS_HUB], incomplete)


def _beginning(names: list[str], incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]
