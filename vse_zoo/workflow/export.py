"""From a run or a built-in model to a folder that TensorFlow Serving serves."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from vse_zoo import presets
from vse_zoo.errors import ConfigError, located
from vse_zoo.serving import Export, export_saved_model

__all__ = ["export_run"]


def export_run(run: str, folder: Path, version: int = 1, grid: Sequence[int] | None = None) -> Export:
    """Exports a model; with ``encode_image_bytes`` where it is recorded which backbone its regions come from.

    Args:
        run: run folder, preset folder or built-in name.
        folder: the served model's; see `export_saved_model`.
        version: a number that isn't there yet.
        grid: rows and columns of the regions, where the model doesn't record them.

    Raises:
        ConfigError: the version is there already, or a grid was given to a model that records another one or none of
            whose regions are computed from pictures.
        PresetError: there is no such model, or a grid was given and the backbone can't be loaded.
    """
    model = presets.load(run)
    if grid:
        _set_grid(model, run, tuple(grid))
    return export_saved_model(model, folder, version)


def _set_grid(model: Any, run: str, grid: tuple[int, ...]) -> None:
    if model.preprocessor is None:
        raise ConfigError(f"grid: {run} takes no pictures.")
    if model.region_grid not in (None, grid):
        rows, columns = model.region_grid
        problem = f"grid: found {'x'.join(map(str, grid))}, the model was trained on {rows}x{columns} regions."
        raise ConfigError(located(run, problem, do="Leave --grid out."))
    model.region_grid = grid
    model.picture_encoder()  # an error now, rather than an export without what was asked for
