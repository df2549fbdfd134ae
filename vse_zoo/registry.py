"""Where presets and recipes lie: in the repository's folders in a checkout, inside the package in a wheel."""

from __future__ import annotations

from pathlib import Path

__all__ = ["SEARCH_PRESET", "recipe_names", "recipes", "saved_models"]

SEARCH_PRESET = "context_attention_flickr8k_en_de"
"""The preset of a new index of photos, where none is named."""


def saved_models() -> Path:
    """The folder that holds one folder per built-in preset; it exists in every checkout and in every wheel."""
    return _shipped("saved_models")


def recipes() -> Path:
    """The folder of the recipe scripts and their configurations."""
    return _shipped("recipes")


def recipe_names() -> list[str]:
    """The recipes that train a model, which are those with a folder of configurations."""
    return sorted(path.name for path in (recipes() / "configs").iterdir() if path.is_dir())


def _shipped(name: str) -> Path:
    package = Path(__file__).parent
    return package / name if (package / name).is_dir() else package.parent / name
