"""The files of a preset, named as KerasHub names them, and the error for those that don't fit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from vse_zoo.errors import PresetError, VSEZooError, located

__all__ = ["ASSETS", "CARD", "CONFIG", "COPIED", "METADATA", "PREPROCESSOR", "WEIGHTS", "fitting", "read_by_loading"]

CONFIG, WEIGHTS, PREPROCESSOR, METADATA = "config.json", "model.weights.h5", "preprocessor.json", "metadata.json"
ASSETS, CARD = "assets", "README.md"
COPIED = "Was the folder copied whole?"


def read_by_loading(folder: Path) -> list[str]:
    """The files there that make the model, relative to the folder: all but metadata.json, the card and exports."""
    names = [name for name in (CONFIG, WEIGHTS, PREPROCESSOR) if (folder / name).is_file()]
    assets = sorted(path for path in (folder / ASSETS).rglob("*") if path.is_file())
    return [*names, *(path.relative_to(folder).as_posix() for path in assets)]


@contextmanager
def fitting(path: Path) -> Iterator[None]:
    """Whatever a missing, damaged or foreign file raises becomes a `PresetError` that names it."""
    try:
        yield
    except PresetError:
        raise
    except VSEZooError as error:
        raise PresetError(f"{error} {COPIED}") from error
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RuntimeError) as error:
        problem = f"damaged, or of another model: {type(error).__name__}: {str(error).strip()}"
        raise PresetError(located(path, problem, do=COPIED)) from error
