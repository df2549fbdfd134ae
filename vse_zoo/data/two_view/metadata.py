"""two_view.json: what a two-view folder holds, checked field by field."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PositiveInt, ValidationError, model_validator

from vse_zoo.errors import DataError, located
from vse_zoo.files import read_json, write_json

__all__ = ["AGAIN", "LABEL", "METADATA", "VIEWS", "TwoViewMetadata", "array_name"]

METADATA = "two_view.json"
VIEWS = ("x", "y")
AGAIN = "Write the two-view folder again."

# As in dataset folders: splits become parts of metrics and file names.
LABEL = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


def array_name(split: str, view: str) -> str:
    """The file of one view ("x" or "y") of a split."""
    return f"{split}.{view}.npy"


class TwoViewMetadata(BaseModel):
    """The content of two_view.json; ``splits`` counts rows, ``hashes`` are SHA-256 by file name."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    format: Literal[1]
    name: Annotated[str, Field(min_length=1)]
    origin: str
    x_dim: PositiveInt
    y_dim: PositiveInt
    splits: Annotated[dict[str, PositiveInt], Field(min_length=1)]
    hashes: dict[str, _Sha256]

    @model_validator(mode="after")
    def _fits(self) -> TwoViewMetadata:
        for split in self.splits:
            if not LABEL.fullmatch(split):
                raise ValueError(f"split {split!r}: expected letters, digits, _ and -, beginning with a letter")
        expected = {array_name(split, view) for split in self.splits for view in VIEWS}
        if odd := sorted(expected ^ self.hashes.keys()):
            raise ValueError(f"the hashes and the splits differ in {odd[0]}")
        return self

    @classmethod
    def read(cls, folder: Path) -> TwoViewMetadata:
        """Reads the folder's two_view.json; a `DataError` names the field that is wrong, or says that there is none."""
        path = folder / METADATA
        if not path.is_file():
            raise DataError(_why_none(folder))
        return cls.checked(path, read_json(path))

    @classmethod
    def checked(cls, path: Path, values: Any) -> TwoViewMetadata:
        """The values as metadata; the first wrong field is a `DataError`."""
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(str(part) for part in first["loc"]) or None
            problem = f"found {str(first['input'])[:80]!r}: {first['msg']}."
            raise DataError(located(path, problem, field=field, do=AGAIN)) from None

    def write(self, folder: Path) -> None:
        """Replaces the folder's two_view.json, atomically."""
        write_json(folder / METADATA, self.model_dump(mode="json"))


def _why_none(folder: Path) -> str:
    make = "Make one: vse-zoo prepare two_view --help"
    if not folder.is_dir():
        return located(folder, "no such folder.", do=make)
    if any(folder.glob("*.x.npy")):
        return located(folder, f"{METADATA} is missing, as after an interrupted write.", do=AGAIN)
    if (folder / "dataset.json").is_file():
        return located(folder, "found a dataset folder of images and captions, expected two views.", do=make)
    return located(folder, f"not a two-view folder (no {METADATA}).", do=make)
