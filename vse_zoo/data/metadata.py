"""dataset.json: what a dataset folder holds, checked field by field."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PositiveInt, TypeAdapter, ValidationError, model_validator

from vse_zoo.errors import DataError, located
from vse_zoo.files import read_json, write_json

__all__ = ["CAPTIONS", "METADATA", "Metadata", "RegionsInfo", "RegionsPart", "ViewsInfo", "checked_metadata"]

METADATA = "dataset.json"
CAPTIONS = "captions.jsonl"

_AGAIN = "Run vse-zoo prepare again."
_Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class _FolderImages(_Strict):
    """Pictures are files below ``root``, absolute or relative to the dataset folder."""

    kind: Literal["folder"]
    root: str


class _SceneImages(_Strict):
    """Pictures are the built-in scenes of ``seed``."""

    kind: Literal["scenes"]
    seed: int


class _NoImages(_Strict):
    """There are no pictures, only their features."""

    kind: Literal["none"]


class RegionsPart(_Strict):
    """Features of the next ``images`` images, in a .npy file that stays where it is: every ``stride``-th row.

    ``path`` is absolute or relative to the dataset folder; ``size`` (bytes) and ``modified_ns`` are the file's when
    the folder was written.
    """

    path: Annotated[str, Field(min_length=1)]
    images: PositiveInt
    stride: PositiveInt
    size: PositiveInt
    modified_ns: int


class RegionsInfo(_Strict):
    """The region files: ``count`` regions an image (null: it varies) of ``dim`` numbers; ``hashes`` by file name.

    With ``parts`` the features are in those files instead of regions.npy, the images in the parts' order.
    """

    dtype: Literal["float16", "float32"]
    dim: PositiveInt
    count: PositiveInt | None
    boxes: bool
    backbone: str
    grid: Annotated[list[PositiveInt], Field(min_length=2, max_length=2)] | None
    hashes: dict[str, _Sha256]
    parts: list[RegionsPart] = []

    @model_validator(mode="after")
    def _parts_are_dense(self) -> RegionsInfo:
        if self.parts and self.count is None:
            raise ValueError("regions in parts need a count")
        return self


class ViewsInfo(_Strict):
    """The views of the training pictures: ``count`` of each; ``hash`` of views.npy."""

    count: PositiveInt
    hash: _Sha256


class Metadata(_Strict):
    """The content of dataset.json; ``images`` counts rows, ``left_out`` names those without usable features."""

    format: Literal[1]
    name: Annotated[str, Field(min_length=1)]
    images: PositiveInt
    languages: Annotated[list[str], Field(min_length=1)]
    splits: Annotated[dict[str, PositiveInt], Field(min_length=1)]
    content_hash: _Sha256
    captions_bytes: PositiveInt
    image_source: Annotated[_FolderImages | _SceneImages | _NoImages, Field(discriminator="kind")]
    regions: RegionsInfo | None
    views: ViewsInfo | None = None
    left_out: dict[str, str]

    @model_validator(mode="after")
    def _adds_up(self) -> Metadata:
        if sum(self.splits.values()) != self.images:
            raise ValueError(f"the splits hold {sum(self.splits.values())} images, expected {self.images}")
        parts = self.regions.parts if self.regions else []
        if parts and sum(part.images for part in parts) != self.images:
            raise ValueError(f"the parts hold {sum(part.images for part in parts)} images, expected {self.images}")
        if len(set(self.languages)) != len(self.languages):
            raise ValueError("a language is listed twice")
        return self

    @classmethod
    def read(cls, folder: Path) -> Metadata:
        """Reads the folder's dataset.json; a `DataError` names the field that is wrong, or says that there is none."""
        path = folder / METADATA
        if not path.is_file():
            raise DataError(_why_none(folder))
        return checked_metadata(path, read_json(path))

    def write(self, folder: Path) -> None:
        """Replaces the folder's dataset.json, atomically."""
        write_json(folder / METADATA, self.model_dump(mode="json"))


def checked_metadata(path: Path, values: Any) -> Metadata:
    """The values as metadata; the first wrong field is a `DataError`."""
    try:
        return TypeAdapter(Metadata).validate_python(values)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or None
        problem = f"found {str(first['input'])[:80]!r}: {first['msg']}."
        raise DataError(located(path, problem, field=field, do=_AGAIN)) from None


def _why_none(folder: Path) -> str:
    if not folder.is_dir():
        return located(folder, "no such folder.", do="Make a dataset folder: vse-zoo prepare --help")
    if (folder / CAPTIONS).is_file():
        return located(folder, f"{METADATA} is missing, as after an interrupted write.", do=_AGAIN)
    return located(folder, f"not a dataset folder (no {METADATA}).", do="Make one: vse-zoo prepare --help")
