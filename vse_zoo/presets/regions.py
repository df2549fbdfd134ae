"""Where the regions come from that a preset's model was trained on: a part of its record."""

from __future__ import annotations

from typing import Any

__all__ = ["note_regions", "take_regions", "trained_on"]

_DATASET = "dataset"
_FIELDS = {"region_backbone": "backbone", "region_grid": "grid"}
"""By the models' attribute the field of the dataset's record."""


def trained_on(record: dict[str, Any]) -> dict[str, Any]:
    """What a record says about the dataset; nothing where it says so in another form, since its form is free."""
    found = record.get(_DATASET)
    return found if isinstance(found, dict) else {}


def note_regions(model: Any, record: dict[str, Any]) -> None:
    """Tells a loaded model what its record says; what isn't well formed counts as not recorded."""
    dataset = trained_on(record)
    if isinstance(backbone := dataset.get("backbone"), str):
        model.region_backbone, model.region_grid = backbone, _grid(dataset.get("grid"))


def _grid(found: Any) -> tuple[int, ...] | None:
    is_grid = isinstance(found, list) and len(found) == 2 and all(type(side) is int for side in found)
    return tuple(found) if is_grid else None


def take_regions(config: dict[str, Any], record: dict[str, Any]) -> dict[str, Any]:
    """Moves a model's own notes from its configuration to the record, unless that names a backbone; the new record."""
    known = {field: config.pop(name) for name, field in _FIELDS.items() if name in config}
    dataset = record.get(_DATASET, {})
    if not known or not isinstance(dataset, dict) or "backbone" in dataset:
        return record
    return {**record, _DATASET: {**dataset, **known}}
