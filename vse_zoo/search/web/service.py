"""What the page's requests are answered with: an index, its photos, and threads for both."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image

from vse_zoo.evaluation.tables import LANGUAGE_NAMES
from vse_zoo.search.answers import Answer, Result, readable
from vse_zoo.search.index import Index
from vse_zoo.search.web.explaining import Seen, can_explain, explain, look
from vse_zoo.search.web.lanes import Lane
from vse_zoo.search.web.pictures import Photos, uploaded
from vse_zoo.search.web.recent import Recent
from vse_zoo.search.web.schemas import Found, Head, Language, Looked, Searched, Summary, Word

__all__ = ["Service"]

_DIGITS = 6
_SEEN = 512
"""Photos that needn't be looked at again to be explained, 20 to 50 KB each."""
_LENGTHS = 4, 8, 12
"""Words of sentences; a model that compares words with regions compiles for multiples of 4."""


class Service:
    """Sentences one after another, and beside them pictures, two at a time: these delay no sentence.

    Args:
        index: an opened index.
    """

    def __init__(self, index: Index) -> None:
        self.index = index
        self.photos = Photos(index)
        self.sentences = Lane(workers=1, waiting=127)
        self.backbone = Lane(workers=2, waiting=126)
        self.pictures = Lane(workers=2, waiting=510)
        self._summary: Summary | None = None
        self._seen: Recent[int, Seen] = Recent(_SEEN)

    def close(self) -> None:
        """Ends the threads."""
        self.sentences.close()
        self.backbone.close()
        self.pictures.close()

    def warm_up(self) -> None:
        """Loads model and backbone and compiles what they do, so that the first questions needn't wait."""
        encoder = self.index.encoder
        seen = None
        self.index.search_image(Image.new("RGB", (8, 8)))
        if can_explain(encoder.model):
            seen = look(encoder, Image.new("RGB", (8, 8)))
        for language in self.index.languages:
            vocabulary = encoder.model.preprocessor.vocabulary(language)
            word = next((word for word in vocabulary if word.isalpha()), "a")
            for length in _LENGTHS:
                query = " ".join([word] * length)
                self.index.search_text(query, language)
                if seen is not None:
                    explain(encoder, seen, query, language)

    async def summary(self) -> Summary:
        """What is searched."""
        if self._summary is None:
            self._summary = await self.sentences.run(self._summarized)
        return self._summary

    def _summarized(self) -> Summary:
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
        picture = await self.pictures.run(uploaded, content, self.index.settings.image_size)
        return self._searched(await self.backbone.run(self.index.search_image, picture, k), None)

    async def explain(self, photo: int, query: str, language: str | None) -> Looked:
        """Where in a photo the query's words are seen."""
        seen = self._seen.get(photo)
        if seen is None:
            # Decoded as it was to be indexed, so that the score is that of the search.
            picture = await self.pictures.run(self.photos.open, photo, self.index.settings.image_size)
            seen = await self.backbone.run(look, self.index.encoder, picture)
            self._seen.put(photo, seen)
        found = await self.sentences.run(explain, self.index.encoder, seen, query, language)
        words = [
            Word(text=text, known=known, part=round(float(part), _DIGITS), weights=_rounded(weights))
            for text, known, part, weights in zip(found.words, found.known, found.parts, found.weights, strict=True)
        ]
        return Looked(
            photo=photo,
            query=query,
            language=found.language,
            method=found.method,
            grid=self.index.encoder.pictures.grid,
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
            notice=answer.notice(),
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
