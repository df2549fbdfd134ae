"""What an index folder was made of: index.json."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from vse_zoo.errors import DataError, located
from vse_zoo.files import read_json, write_json
from vse_zoo.registry import saved_models

__all__ = ["CALIBRATION", "SETTINGS", "IndexSettings", "preset_fingerprint"]

SETTINGS = "index.json"
_FORMAT = 1
CALIBRATION = "assets/calibration.json"
"""In a preset folder. It says what scores mean and changes none."""


class IndexSettings(BaseModel):
    """index.json.

    Args:
        format: version of the folder's format.
        photos: the folder of photos, absolute.
        preset: as it was given.
        preset_folder: where it was found, absolute.
        fingerprint: of the preset's files.
        similarity: "embedding" or "pairwise".
        shape: of a photo's vectors, (E,) or (R, E).
        image_size: side of the square that the backbone sees.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: int = _FORMAT
    photos: str
    preset: str
    preset_folder: str
    fingerprint: str
    similarity: str
    shape: tuple[int, ...]
    image_size: int

    @classmethod
    def read(cls, folder: Path) -> IndexSettings:
        """Reads a folder's; a `DataError` where it is no index, damaged, or of a newer version."""
        path = folder / SETTINGS
        if not path.is_file():
            raise DataError(located(folder, "found no index there.", do="Make one: vse-zoo index PHOTOS --out INDEX."))
        values = read_json(path)
        found = values.get("format") if isinstance(values, dict) else None
        if isinstance(found, int) and found > _FORMAT:
            problem = f"found version {found} of the format, expected at most {_FORMAT}."
            raise DataError(located(path, problem, field="format", do="Update vse_zoo."))
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(map(str, first["loc"]))
            raise DataError(located(path, f"{first['msg']}.", field=field, do="Index the photos again.")) from None

    def find_preset(self) -> Path | None:
        """The folder of the very preset that the index was made with: where it was, or where its name now leads to."""
        named = saved_models() / self.preset, Path(self.preset), Path(self.preset) / "best"
        for folder in (Path(self.preset_folder), *named):
            if (folder / "config.json").is_file() and preset_fingerprint(folder) == self.fingerprint:
                return folder
        return None

    def write(self, folder: Path) -> None:
        """Writes the folder's."""
        write_json(folder / SETTINGS, self.model_dump())


def preset_fingerprint(folder: Path) -> str:
    """A hash over the files that make a preset's model: by their recorded hashes, where they are recorded.

    Neither TensorFlow nor the files themselves are needed then, so that it takes no time.
    """
    names = ("config.json", "model.weights.h5", "preprocessor.json", "metadata.json")
    recorded: dict[str, Any] = {}
    if (folder / names[-1]).is_file():
        values = read_json(folder / names[-1])
        # The backbone and its grid decide about the features.
        dataset = {name: values.get("dataset", {}).get(name) for name in ("backbone", "grid")}
        recorded = {"dataset": dataset, **values.get("preset", {}).get("sha256", {})}
    if "config.json" not in recorded:
        paths = [folder / name for name in names[:-1]] + sorted((folder / "assets").glob("*"))
        recorded |= {str(path.relative_to(folder)): _sha256(path) for path in paths if path.is_file()}
    recorded.pop(CALIBRATION, None)
    return hashlib.sha256(json.dumps(recorded, sort_keys=True).encode()).hexdigest()


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
