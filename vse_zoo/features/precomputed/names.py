"""What programs call the fields of region features, in TSV columns, .npz arrays and HDF5 data sets."""

from __future__ import annotations

from collections.abc import Collection

from vse_zoo.features.precomputed.entries import Place

__all__ = ["BOXES", "COUNT", "FEATURES", "HEIGHT", "IDS", "RELATIVE_BOXES", "WIDTH", "chosen"]

FEATURES = ("features", "x", "image_features", "feats")
BOXES = ("boxes", "bbox", "image_bb")
# Six numbers a region: a relative box, its width and its height.
RELATIVE_BOXES = ("spatial_features",)
WIDTH = ("image_w", "img_w")
HEIGHT = ("image_h", "img_h")
COUNT = ("num_boxes", "num_bbox")
IDS = ("image_ids", "image_id", "img_ids", "img_id", "ids")


def chosen(place: Place, held: Collection[str], names: Collection[str]) -> str | None:
    """The one of ``names`` that is held, or None; a `DataError` where several are."""
    found = [name for name in names if name in held]
    if len(found) > 1:
        raise place.error(f"found {' and '.join(found)}, expected one of them.")
    return found[0] if found else None
