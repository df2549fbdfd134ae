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
from vse_zoo.search.qdrant import EXACT_UP_TO

__all__ = ["CALIBRATION", "SETTINGS", "IndexSettings", "QdrantPlace", "preset_fingerprint"]

SETTINGS = "index.json"
_FORMAT = 1
CALIBRATION = "assets/calibration.json"
"""In a preset folder. It says what scores mean and changes none."""


class QdrantPlace(BaseModel):
    """Where in Qdrant an index keeps its vectors.

    Args:
        url: a server's address; None: a folder in the index.
        collection: its name, this index's alone.
        exact_up_to: pictures up to which a server compares every one.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    url: str | None = None
    collection: str
    exact_up_to: int = EXACT_UP_TO


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
        qdrant: where the vectors are, if not in files of vse_zoo's own.
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
    qdrant: QdrantPlace | None = None

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
        write_json(folder / SETTINGS, self.model_dump(exclude_none=True))

    def keeps(self, old: IndexSettings) -> bool:
        """Whether the vectors of ``old`` are its own: by the same preset, in the same place."""
        places = {(each.qdrant.url, each.qdrant.collection) if each.qdrant else None for each in (self, old)}
        return self.fingerprint == old.fingerprint and len(places) == 1


def preset_fingerprint(folder: Path) -> str:
    """A hash over the files that make a preset's model: by their recorded hashes, where they are recorded.

    Neither TensorFlow nor the files themselves are needed then, so that it takes no time.
    """
    names = ("config.json", "model.weights.h5", "preprocessor.json", "metadata.json")
    recorded: dict[str, Any] = {}
    if (folder / names[-1]).is_file():
        values = read_json(folder / names[-1])
        # The backbone and its grid decide about the features.
        trained_on = values.get("dataset")
        known = trained_on if isinstance(trained_on, dict) else {}
        dataset = {name: known.get(name) for name in ("backbone", "grid")}
        recorded = {"dataset": dataset, **values.get("preset", {}).get("sha256", {})}
    if "config.json" not in recorded:
        paths = [folder / name for name in names[:-1]] + sorted((folder / "assets").glob("*"))
        recorded |= {str(path.relative_to(folder)): _sha256(path) for path in paths if path.is_file()}
    recorded.pop(CALIBRATION, None)
    return hashlib.sha256(json.dumps(recorded, sort_keys=True).encode()).hexdigest()


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
