"""Evaluation of a model on a dataset folder: which images and captions meet, and how they are encoded."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from vse_zoo.errors import EvaluationError
from vse_zoo.evaluation import evaluate, evaluate_retrieval, figures_as_dict, total_rsum


class Folder:
    """What evaluation reads of a dataset: 4 images, the second without German; captions of one language may repeat."""

    languages = ("en", "de")
    path = Path("folder")

    def __init__(self) -> None:
        self.captions_of = {
            "en": [["a", "b"], ["c"], ["a"], ["d", "e", "f"]],
            "de": [["A"], [], ["B", "C"], ["D"]],
        }

    def captions(self, split: str, language: str) -> tuple[list[str], NDArray[np.int64]]:
        rows = {"test": [0, 1, 2, 3], "one": [1]}[split]
        pairs = [(text, row) for row in rows for text in self.captions_of[language][row]]
        return [text for text, _ in pairs], np.array([row for _, row in pairs], np.int64)

    def regions(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.float16], NDArray[np.bool_]]:
        return np.repeat(np.eye(4, dtype=np.float16)[rows][:, None], 3, axis=1), np.ones((len(rows), 3), bool)


class Model:
    """Image n is axis n; a sentence is a fixed vector, moved a little in each call, as batches do with rounding."""

    def __init__(self, languages: tuple[str, ...] = ("fr", "de", "en")) -> None:
        self.languages = languages
        self.asked: list[str] = []

    def encode_image(self, regions: NDArray, region_mask: NDArray) -> NDArray:
        assert region_mask.shape == regions.shape[:2]
        return regions.mean(axis=1, dtype=np.float32)

    def encode_text(self, texts: Sequence[str], language: str) -> NDArray:
        start = len(self.asked)
        self.asked += texts
        vectors = {"a": [1, 0, 0, 0], "b": [0.5, 0, 0, 0.5], "c": [0, 1, 0, 0], "A": [1, 0, 0, 0], "B": [0, 0, 1, 0]}
        vectors["C"] = [0, 0, 0.5, 0]
        rows = [np.array(vectors.get(text, [0, 0, 0, 1]), np.float32) for text in texts]
        return np.stack([row + 1e-6 * (start + i) for i, row in enumerate(rows)])


def test_each_language_searches_the_images_that_have_captions_in_it() -> None:
    figures = evaluate(Model(), Folder(), "test")
    assert list(figures) == ["en", "de"]
    assert (figures["en"].images, figures["en"].texts) == (4, 7)
    assert (figures["de"].images, figures["de"].texts) == (3, 4)
    expected = evaluate_retrieval(
        np.eye(4)[[0, 2, 3]], [[1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0.5, 0], [0, 0, 0, 1]], [0, 1, 1, 2]
    )
    assert figures["de"] == expected


def test_equal_captions_are_encoded_once_and_tie() -> None:
    model = Model()
    figures = evaluate(model, Folder(), "test", ["en"])
    assert sorted(model.asked) == ["a", "b", "c", "d", "e", "f"]
    # Image 0's best caption "a" ties with image 2's copy of it, which counts against image 0; image 2 finds nothing.
    assert figures["en"].i2t.r1 == 50


def test_a_split_without_captions_in_a_language_is_refused() -> None:
    with pytest.raises(EvaluationError, match="split 'one' has no caption in 'de'"):
        evaluate(Model(), Folder(), "one")


def test_sum_over_languages_and_plain_numbers() -> None:
    figures = evaluate(Model(), Folder(), "test")
    plain = figures_as_dict(figures, "test")
    assert plain["rsum"] == total_rsum(figures) == figures["en"].rsum + figures["de"].rsum
    assert plain["languages"]["de"]["t2i"]["queries"] == 4


def test_only_languages_that_the_model_and_the_dataset_share() -> None:
    assert set(evaluate(Model(("en", "fr")), Folder(), "test")) == {"en"}
    with pytest.raises(EvaluationError, match="found captions in en, de, the model knows fr"):
        evaluate(Model(("fr",)), Folder(), "test")
