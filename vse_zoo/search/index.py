"""An index of photos, opened to be searched."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from vse_zoo.errors import ConfigError, PresetError, located
from vse_zoo.images import Picture, read_picture
from vse_zoo.search.answers import Answer, Result
from vse_zoo.search.backends import open_backend
from vse_zoo.search.calibration import Calibration, length_of
from vse_zoo.search.catalogue import Catalogue
from vse_zoo.search.indexing import CATALOGUE
from vse_zoo.search.protocol import Backend, Hits
from vse_zoo.search.settings import IndexSettings

if TYPE_CHECKING:
    from vse_zoo.search.encoding import Encoder
    from vse_zoo.search.words import Query

__all__ = ["Index"]


class Index:
    """Photos by sentence or by picture. `open` it, or use it in a ``with`` statement; threads may share one.

    What it reads is the state of when it was opened: open it again after `vse-zoo index`.

    Args:
        folder: of the index.
        settings: of it.
        catalogue: of it.
        backend: of it.
    """

    def __init__(self, folder: Path, settings: IndexSettings, catalogue: Catalogue, backend: Backend) -> None:
        self.folder, self.settings = folder, settings
        self.backend = backend
        self._catalogue = catalogue
        self.count = catalogue.counts()[1]

    @classmethod
    def open(cls, folder: str | Path) -> Self:
        """Opens the index that `vse-zoo index` made.

        Raises:
            DataError: the folder holds no index, or is damaged.
            PresetError: the preset is no longer there, or another than when the photos were indexed.
        """
        folder = Path(folder)
        settings = IndexSettings.read(folder)
        preset = settings.find_preset()
        if preset is None:
            where = f"{settings.preset} at {settings.preset_folder}"
            problem = f"the preset {where} was replaced or removed since the photos were indexed."
            raise PresetError(located(folder, problem, do="Index them again: vse-zoo index."))
        settings = settings.model_copy(update={"preset_folder": str(preset)})
        return cls(folder, settings, Catalogue(folder / CATALOGUE), open_backend(folder, settings))

    def close(self) -> None:
        """Gives back its files."""
        self.backend.close()
        self._catalogue.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __len__(self) -> int:
        """The number of different photos; copies count once."""
        return self.count

    @property
    def root(self) -> Path:
        """The folder of photos."""
        return Path(self.settings.photos)

    @property
    def photos(self) -> list[Path]:
        """Every file that can be found, copies too, in order."""
        return [self.root / path for path, _ in self._catalogue.photos()]

    @property
    def unreadable(self) -> dict[Path, str]:
        """The files that can't be found, and why."""
        return {self.root / path: reason for path, reason in self._catalogue.unreadable().items()}

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages of queries."""
        return tuple(self.encoder.model.languages)

    @cached_property
    def encoder(self) -> Encoder:
        """The preset's model and backbone, to encode queries and to look into single photos."""
        from vse_zoo.search.encoding import Encoder  # brings TensorFlow, which takes seconds

        return Encoder(self.settings.preset_folder)

    @cached_property
    def calibration(self) -> Calibration | None:
        """What scores mean, if that was measured for the preset."""
        return Calibration.read(Path(self.settings.preset_folder))

    def files(self, key: int) -> list[Path]:
        """The files of a result's key: none for a number that isn't one, so that no other file can be asked for."""
        return [self.root / path for path in self._catalogue.files_of([key]).get(key, [])]

    def search_text(
        self, query: str, language: str | None = None, k: int = 10, min_confidence: float | None = None
    ) -> Answer:
        """The photos that fit a sentence best.

        Args:
            query: what is in the photo.
            language: of the query; found by its words where it isn't given.
            k: photos wanted.
            min_confidence: leave out results that are less often right.

        Raises:
            ConfigError: ``k`` or ``min_confidence`` is impossible, or the preset wasn't calibrated for the latter.
            DataError: the model doesn't know the language, or the query has no word.
        """
        from vse_zoo.search.words import understood  # brings TensorFlow

        self._check(k, min_confidence)
        read = understood(query, self.encoder.model.preprocessor, language)
        found: tuple[Result, ...] = ()
        if read.known and self.count:
            vectors = self.encoder.encode_text(query, read.language)
            keys, scores = self._best(vectors, k)
            found = self._results(keys, scores, self._confidences(scores, vectors, read), min_confidence)
        return Answer(query, read.language, read.words, read.unknown, found, self.count, *self._lost(found))

    def search_image(self, image: Picture, k: int = 10) -> Answer:
        """The photos that look most like a picture: a file, a Pillow image, or pixels (H, W, 3) uint8.

        Raises:
            ConfigError: ``k`` is impossible.
            ImageError: the file can't be decoded, or the array holds no pixels.
        """
        self._check(k, None)
        name = str(image) if isinstance(image, str | Path) else "picture"
        picture = read_picture(image, self.settings.image_size)
        found: tuple[Result, ...] = ()
        if self.count:
            keys, scores = self._best(self.encoder.encode([picture])[0], k)
            found = self._results(keys, scores, None, None)
        return Answer(name, None, (), (), found, self.count, *self._lost(found))

    @property
    def moved(self) -> bool:
        """Whether the folder of photos is no longer there."""
        return not os.path.isdir(self.root)

    def _lost(self, found: tuple[Result, ...]) -> tuple[bool, int]:
        """Whether the folder of photos is gone, and how many of the results have no file any more."""
        return self.moved, sum(not os.path.isfile(result.path) for result in found)

    def _check(self, k: int, min_confidence: float | None) -> None:
        if k < 1:
            raise ConfigError(f"k: found {k}, expected at least 1.")
        if min_confidence is None:
            return
        if not 0 <= min_confidence <= 1:
            raise ConfigError(f"min_confidence: found {min_confidence}, expected a share between 0 and 1.")
        if self.calibration is None:
            do = "Run recipes/calibrate.py on it."
            raise ConfigError(f"min_confidence: the preset {self.settings.preset} was not calibrated. {do}")

    def _best(self, vectors: NDArray[np.float32], k: int) -> Hits:
        """The best keys of a query's vector, or of its words' vectors by the model's own score."""
        if self.settings.similarity == "embedding":
            return self.backend.search(vectors, k)
        from vse_zoo.search.reranking import rerank  # brings TensorFlow

        return rerank(self.backend, self.encoder.model, vectors, k)

    def _confidences(
        self, scores: NDArray[np.float32], vectors: NDArray[np.float32], read: Query
    ) -> NDArray[np.float64] | None:
        curves = self.calibration.curves.get(read.language) if self.calibration else None
        return curves[length_of(len(read.words))](self.encoder.levels(scores, vectors)) if curves else None

    def _results(
        self,
        keys: NDArray[np.int64],
        scores: NDArray[np.float32],
        confidences: NDArray[np.float64] | None,
        least: float | None,
    ) -> tuple[Result, ...]:
        files = self._catalogue.files_of(keys.tolist())
        found = []
        for place, key in enumerate(keys.tolist()):
            confidence = None if confidences is None else float(confidences[place])
            # A key without files was just removed, or belongs to a run that was killed.
            if key in files and (least is None or (confidence is not None and confidence >= least)):
                # Of copies one that is still there comes first; a path that can't be examined counts as gone.
                path, *copies = sorted((self.root / each for each in files[key]), key=os.path.isfile, reverse=True)
                found.append(Result(path, float(scores[place]), confidence, key, tuple(copies)))
        return tuple(found)
