"""From a run or a built-in model to a folder that TensorFlow Serving serves."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from vse_zoo import presets
from vse_zoo.errors import ConfigError
from vse_zoo.features import Backbone, backbones
from vse_zoo.serving import Export, export_saved_model

__all__ = ["export_run"]

_PICTURES = "encode_image_bytes"


def export_run(run: str, folder: Path, version: int = 1, grid: Sequence[int] | None = None) -> Export:
    """Exports a model; with ``encode_image_bytes`` where its regions are those of the built-in backbone.

    Args:
        run: run folder, preset folder or built-in name.
        folder: the served model's; see `export_saved_model`.
        version: a number that isn't there yet.
        grid: rows and columns of the regions, where the model doesn't record them.

    Raises:
        ConfigError: the version is there already, or a grid was given to a model without the built-in backbone.
        PresetError: there is no such model.
    """
    model = presets.load(run)
    backbone, reason = _backbone(run, grid) if model.languages else (None, "")
    if grid and backbone is None:
        raise ConfigError(f"grid: {reason or 'the model takes no pictures.'}")
    found = export_saved_model(model, folder, version, backbone=backbone)
    left_out = {_PICTURES: reason} if reason else {}
    return Export(found.path, found.signatures, found.default, {**left_out, **found.left_out})


def _backbone(run: str, grid: Sequence[int] | None) -> tuple[Backbone | None, str]:
    """The backbone that the model was trained on, or why it can't be exported."""
    recorded = presets.metadata(run).get("dataset", {})
    name, shape = recorded.get("backbone"), grid or recorded.get("grid")
    if name != backbones.BUILT_IN:
        return None, f"its regions come from {name or 'a source that it does not name'}, not from {backbones.BUILT_IN}."
    if not shape:
        return None, "the model does not record the grid of its regions. Give it, such as --grid 7x7."
    rows, columns = shape
    return backbones.get(name, (rows, columns)), ""
