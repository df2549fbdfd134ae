"""Where the package's built-in presets lie: in the repository's folder in a checkout, inside the package in a wheel."""

from __future__ import annotations

from pathlib import Path

__all__ = ["saved_models"]


def saved_models() -> Path:
    """The folder that holds one folder per built-in preset; it exists in every checkout and in every wheel."""
    package = Path(__file__).parent
    installed = package / "saved_models"
    return installed if installed.is_dir() else package.parent / "saved_models"
