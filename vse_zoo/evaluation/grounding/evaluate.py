"""Weakly supervised phrase localisation by transport plan, and by cosine (Yuan et al., BMVC 2020).

A phrase's region is argmax_k T_km, in the baseline argmax_k s_km, of its word m. For phrases of several words both are
summed over the words: all words carry the same mass, so the sum of plan entries is what a region sends to the phrase.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from vse_zoo.data.dataset import Dataset
from vse_zoo.data.records import Phrase
from vse_zoo.errors import EvaluationError, located
from vse_zoo.evaluation.grounding.areas import map_boxes
from vse_zoo.evaluation.grounding.boxes import BOX_CONVENTIONS, centres_inside, regions_found
from vse_zoo.evaluation.grounding.figures import GroundingFigures, PhraseOutcome, phrase_outcome, summary
from vse_zoo.evaluation.grounding.phrases import CaptionPhrases, phrases_of, words_of
from vse_zoo.progress import progress
from vse_zoo.sets import ItemSets

__all__ = ["AligningModel", "evaluate_grounding"]


class AligningModel(Protocol):
    """What grounding needs of a model (`vse_zoo.models.TransportVSE` has it)."""

    preprocessor: Any
    """Its ``spans`` says where the words stand, as `vse_zoo.preprocessing.TextPreprocessor`'s."""

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages that `encode_text` takes."""

    def encode_image(self, regions: NDArray[Any], region_mask: NDArray[np.bool_]) -> ItemSets:
        """(B, R, D) regions and (B, R) mask to B sets of vectors, of the real regions in order."""

    def encode_text(self, texts: Sequence[str], language: str) -> ItemSets:
        """Sentences to B sets of word vectors."""

    def align(self, images: ItemSets, texts: ItemSets) -> tuple[NDArray[Any], NDArray[Any]]:
        """N images and N sentences, pair by pair, to transport plans and cosines (N, R, T), real items first."""


def evaluate_grounding(
    model: AligningModel,
    dataset: Dataset,
    split: str,
    languages: Sequence[str] | None = None,
    *,
    boxes: str = "any",
    chunk: int = 128,
) -> dict[str, dict[str, GroundingFigures]]:
    """Figures of each language that has phrases with boxes: ``{language: {"transport": …, "cosine": …}}``.

    Args:
        model: compares regions with words.
        dataset: an opened folder with region features and boxes, and phrases with boxes.
        split: its name.
        languages: all that the model and the dataset share by default, those without phrases left out.
        boxes: what a region must match of a phrase with several boxes: "any" one of them, or "union", the box around
            all of them, which is usual on Flickr30k Entities. The pointing game always takes any.
        chunk: captions aligned at a time.

    Raises:
        EvaluationError: no language has such phrases, the dataset has no boxes of regions, the model doesn't compare
            regions with words, or gives scores that aren't finite or other words than its preprocessor.
    """
    if boxes not in BOX_CONVENTIONS:
        raise EvaluationError(f"boxes: found {boxes!r}, expected one of: {', '.join(BOX_CONVENTIONS)}.")
    if not hasattr(model, "align"):
        raise EvaluationError(f"{type(model).__name__} compares whole pictures with whole sentences, not their parts.")
    shared = [language for language in dataset.languages if language in model.languages]
    captions = {language: list(phrases_of(dataset, split, language)) for language in languages or shared}
    captions = {language: found for language, found in captions.items() if any(each.located for each in found)}
    if not captions:
        problem = f"split '{split}' has no phrases with boxes in: {', '.join(languages or shared) or 'no language'}."
        raise EvaluationError(located(dataset.path, problem))
    figures = {}
    with progress("Finding phrases", sum(map(len, captions.values()))) as bar:
        for language, found in captions.items():
            tally = _Tally(dataset, boxes)
            waiting = iter(found)
            while part := list(islice(waiting, chunk)):
                tally.add(model, part, language)
                bar.advance(len(part))
            figures[language] = tally.figures()
    return figures


class _Tally:
    """Outcomes of the phrases of one language, chunk by chunk."""

    def __init__(self, dataset: Dataset, convention: str) -> None:
        self._dataset = dataset
        self._convention = convention
        self._outcomes: Mapping[str, list[PhraseOutcome]] = {"transport": [], "cosine": []}
        self._without_words = self._without_boxes = 0

    def add(self, model: AligningModel, captions: Sequence[CaptionPhrases], language: str) -> None:
        self._without_boxes += sum(len(each.phrases) - len(each.located) for each in captions)
        captions = [each for each in captions if each.located]
        if not captions:
            return
        rows, places = np.unique([each.row for each in captions], return_inverse=True)
        images = model.encode_image(*self._dataset.regions(rows))[places]
        texts = model.encode_text([each.text for each in captions], language)
        spans = model.preprocessor.spans([each.text for each in captions])
        _check_words(texts, spans, captions)
        plans, cosines = model.align(images, texts)
        for number, caption in enumerate(captions):
            scores = {"transport": plans[number], "cosine": cosines[number]}
            real = {name: np.asarray(each)[: images.counts[number]] for name, each in scores.items()}
            self._add_caption(caption, spans[number], real)

    def _add_caption(
        self, caption: CaptionPhrases, spans: NDArray[np.int64], scores: Mapping[str, NDArray[np.floating]]
    ) -> None:
        regions = self._dataset.boxes(caption.row)
        if regions is None:
            do = "Grounding needs regions with boxes: run vse-zoo features again."
            raise EvaluationError(located(self._dataset.path, "its regions have no boxes.", do=do))
        phrases = [(phrase, words_of(phrase, spans)) for phrase in caption.located]
        self._without_words += sum(not len(words) for _, words in phrases)
        right = [regions_found(regions, phrase.boxes, self._convention) for phrase, _ in phrases]
        pointing = [centres_inside(regions, phrase.boxes) for phrase, _ in phrases]
        for name, outcomes in self._outcomes.items():
            sums = [scores[name][:, words].sum(axis=1, dtype=np.float64) for _, words in phrases]
            maps = self._maps_right(sums, regions, [phrase for phrase, _ in phrases])
            found = map(phrase_outcome, sums, right, pointing, maps)
            outcomes += [each if len(words) else each.missed for each, (_, words) in zip(found, phrases, strict=True)]

    def _maps_right(
        self, sums: Sequence[NDArray[np.floating]], regions: NDArray[np.floating], phrases: Sequence[Phrase]
    ) -> list[bool | None]:
        if self._dataset.grid is None or not np.isfinite(sums).all():
            return [None] * len(phrases)
        boxes = map_boxes(np.stack(sums), regions, self._dataset.grid)
        found = (regions_found(box, phrase.boxes, self._convention) for box, phrase in zip(boxes, phrases, strict=True))
        return [bool(each[0]) for each in found]

    def figures(self) -> dict[str, GroundingFigures]:
        return {name: summary(each, self._without_words, self._without_boxes) for name, each in self._outcomes.items()}


def _check_words(texts: ItemSets, spans: Sequence[NDArray[np.int64]], captions: Sequence[CaptionPhrases]) -> None:
    for caption, count, found in zip(captions, texts.counts.tolist(), spans, strict=True):
        if count != len(found):
            raise EvaluationError(
                f"{caption.text!r}: the model has {count} words, its preprocessor {len(found)}: expected the same."
            )
