"""What a search gives."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vse_zoo.image_names import printable
from vse_zoo.search.calibration import WEAK

__all__ = ["Answer", "Result", "moved_notice", "readable"]


@dataclass(frozen=True)
class Result:
    """A photo that was found.

    Args:
        path: of its file.
        score: the model's.
        confidence: how often a result at this score was right on the preset's dev split; None where that isn't known,
            as for a preset that wasn't calibrated or a search by picture.
        key: of its content in the index.
        copies: other files with the same content.
    """

    path: Path
    score: float
    confidence: float | None
    key: int
    copies: tuple[Path, ...] = ()

    @property
    def weak(self) -> bool:
        """Whether it is more likely wrong than worth a look: its confidence is under `WEAK`."""
        return self.confidence is not None and self.confidence < WEAK

    def as_json(self) -> dict[str, Any]:
        """Plain JSON values; bytes of a file name that aren't UTF-8 become �."""
        return {
            "path": readable(self.path),
            "score": round(self.score, 6),
            "confidence": None if self.confidence is None else round(self.confidence, 4),
            "weak": self.weak,
            "copies": [readable(path) for path in self.copies],
        }


@dataclass(frozen=True)
class Answer:
    """The results of a search, best first.

    Args:
        query: the sentence, or the name of the picture.
        language: of the sentence, as given or found; None of a picture.
        unknown: words of the sentence that the model doesn't know; where it knows none, there are no results.
        words: all words of the sentence.
        results: the photos.
        photos: how many different ones were searched.
        moved: whether the folder of the photos is no longer there.
        missing: how many results have no file any more.
    """

    query: str
    language: str | None
    words: tuple[str, ...]
    unknown: tuple[str, ...]
    results: tuple[Result, ...]
    photos: int
    moved: bool = False
    missing: int = 0

    def notice(self, index: str = "INDEX") -> str | None:
        """What the user should do about photos that are no longer there; None where all are.

        Args:
            index: the folder of the index, as it is to stand in the command.
        """
        if self.moved:
            return moved_notice(index)
        if self.missing:
            where = f"{self.missing} of these {len(self.results)} photos are no longer there. Connect their drive"
            return f"{where}, or, if you moved or deleted them, run: vse-zoo index PHOTOS --out {index}"
        return None

    def as_json(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "query": self.query,
            "language": self.language,
            "unknown_words": list(self.unknown),
            "photos": self.photos,
            "notice": self.notice(),
            "results": [result.as_json() for result in self.results],
        }


def moved_notice(index: str) -> str:
    """What the user should do about a folder of photos that is no longer there."""
    where = "The folder of the photos is no longer where it was indexed."
    return f"{where} Connect its drive, or, if you moved it, run: vse-zoo index NEW --out {index}"


def readable(path: Path) -> str:
    """A path as text that can be printed and encoded."""
    return printable(str(path))
