"""What a search gives."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vse_zoo.search.calibration import WEAK

__all__ = ["Answer", "Result"]


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
    """

    query: str
    language: str | None
    words: tuple[str, ...]
    unknown: tuple[str, ...]
    results: tuple[Result, ...]
    photos: int

    def as_json(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "query": self.query,
            "language": self.language,
            "unknown_words": list(self.unknown),
            "photos": self.photos,
            "results": [result.as_json() for result in self.results],
        }


def readable(path: Path) -> str:
    """A path as text that can be printed and encoded."""
    return str(path).encode("utf-8", "surrogateescape").decode("utf-8", "replace")
