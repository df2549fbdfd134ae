"""What the page's requests are answered with: an index, its photos, and threads for both."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image

from vse_zoo.evaluation.tables import LANGUAGE_NAMES
from vse_zoo.search.answers import Answer, Result, readable
from vse_zoo.search.index import Index
from vse_zoo.search.web.explaining import can_explain, explain
from vse_zoo.search.web.lanes import Lane
from vse_zoo.search.web.pictures import Photos, uploaded
from vse_zoo.search.web.schemas import Found, Head, Language, Looked, Searched, Summary, Word

__all__ = ["Service"]

_DIGITS = 6


class Service:
    """Searches one after another, pictures in two threads: a large picture delays no search.

    Args:
        index: an opened index.
    """

    def __init__(self, index: Index) -> None:
        self.index = index
        self.photos = Photos(index)
        self.model = Lane(workers=1, waiting=127)
        self.pictures = Lane(workers=2, waiting=510)

    def close(self) -> None:
        """Ends the threads."""
        self.model.close()
        self.pictures.close()

    def warm_up(self) -> None:
        """Loads model and backbone, so that the first question needn't wait."""
        encoder = self.index.encoder
        picture = Image.new("RGB", (8, 8))
        encoder.encode_picture(picture)
        for language in self.index.languages:
            encoder.encode_text("a", language)
        if can_explain(encoder.model):
            explain(encoder, picture, "a", self.index.languages[0])

    def summary(self) -> Summary:
        """What is searched."""
        index = self.index
        languages = [Language(code=code, name=LANGUAGE_NAMES.get(code, code)) for code in index.languages]
        return Summary(
            photos=len(index),
            preset=index.settings.preset,
            languages=languages,
            calibrated=index.calibration is not None,
            explains=can_explain(index.encoder.model),
        )

    def search(self, query: str, language: str | None, k: int, min_confidence: float | None) -> Searched:
        """By a sentence."""
        return self._searched(self.index.search_text(query, language, k, min_confidence), query)

    async def search_picture(self, content: bytes, k: int) -> Searched:
        """By a picture file's content."""
        picture = await self.pictures.run(uploaded, content)
        return self._searched(await self.model.run(self.index.search_image, picture, k), None)

    async def explain(self, photo: int, query: str, language: str | None) -> Looked:
        """Where in a photo the query's words are seen."""
        # Decoded as it was to be indexed, so that the score is that of the search.
        picture = await self.pictures.run(self.photos.open, photo, self.index.settings.image_size)
        found = await self.model.run(explain, self.index.encoder, picture, query, language)
        words = [
            Word(text=text, known=known, part=round(float(part), _DIGITS), weights=_rounded(weights))
            for text, known, part, weights in zip(found.words, found.known, found.parts, found.weights, strict=True)
        ]
        return Looked(
            photo=photo,
            query=query,
            language=found.language,
            method=found.method,
            grid=self.index.encoder.backbone.grid,
            score=round(found.score, _DIGITS),
            words=words,
            heads=[Head(regions=_rounded(regions), words=_rounded(weights)) for regions, weights in found.heads],
        )

    def _searched(self, answer: Answer, query: str | None) -> Searched:
        return Searched(
            query=query,
            language=answer.language,
            unknown_words=list(answer.unknown),
            photos=answer.photos,
            results=[_found(result, self._shown) for result in answer.results],
        )

    def _shown(self, path: Path) -> str:
        """Its name in the folder of photos; where that lies is nobody's business."""
        return readable(path.relative_to(self.index.root))


def _found(result: Result, shown: Callable[[Path], str]) -> Found:
    return Found(
        id=result.key,
        path=shown(result.path),
        score=round(result.score, _DIGITS),
        confidence=None if result.confidence is None else round(result.confidence, 4),
        weak=result.weak,
        copies=[shown(path) for path in result.copies],
    )


def _rounded(values: np.ndarray) -> list[float]:
    return np.asarray(values, np.float64).round(_DIGITS).tolist()
