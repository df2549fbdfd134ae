"""Figures of a model that scores pairs: equal to those of its whole score matrix, on fewer scores."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from vse_zoo.data.records import Record
from vse_zoo.errors import EvaluationError
from vse_zoo.evaluation import evaluate, evaluate_scores
from vse_zoo.evaluation.evaluate import embed_captions
from vse_zoo.evaluation.report import report_run
from vse_zoo.evaluation.scoring import checked_sets
from vse_zoo.ranking import TransportScorer
from vse_zoo.sets import ItemSets

WORDS = 40


class Folder:
    """30 images of 5 regions, three captions each of 2 to 7 words, some of them written for two images."""

    languages = ("en",)
    has_pictures = True
    path = Path("folder")

    def __init__(self) -> None:
        random = np.random.default_rng(3)
        self.words = [[random.integers(0, WORDS, random.integers(2, 8)) for _ in range(3)] for _ in range(30)]
        self.words[7] = self.words[2]
        texts = [[" ".join(map(str, words)) for words in each] for each in self.words]
        self.records = [Record(str(i), "test", {"en": each}) for i, each in enumerate(texts)]

    def captions(self, split: str, language: str) -> tuple[list[str], NDArray[np.int64]]:
        pairs = [(text, i) for i, record in enumerate(self.records) for text in record.captions["en"]]
        return [text for text, _ in pairs], np.array([i for _, i in pairs], np.int64)

    def regions(self, rows: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        chosen = [np.resize(np.concatenate(self.words[row]), 5) for row in rows]
        return np.eye(WORDS, dtype=np.float16)[np.array(chosen)], np.ones((len(rows), 5), bool)

    def open_image(self, row: int) -> Image.Image:
        return Image.new("RGB", (8, 8))


class Model:
    """Word n and region n are noisy copies of vector n."""

    languages = ("en",)
    similarity_kind = "pairwise"

    def __init__(self) -> None:
        self.random = np.random.default_rng(4)
        self.vectors = self.random.standard_normal((WORDS, 16))
        self.scorers: list[TransportScorer] = []
        self.asked: list[str] = []

    def sets(self, numbers: Sequence[NDArray[np.int64]]) -> ItemSets:
        items = self.vectors[np.concatenate(numbers)]
        items = items + 1.5 * self.random.standard_normal(items.shape)
        counts = np.array([len(each) for each in numbers])
        return ItemSets(np.float32(items / np.linalg.norm(items, axis=1, keepdims=True)), counts)

    def encode_image(self, regions: NDArray[Any], region_mask: NDArray[np.bool_]) -> ItemSets:
        return self.sets(list(np.argmax(regions, axis=2)))

    def encode_text(self, texts: Sequence[str], language: str) -> ItemSets:
        self.asked += texts
        return self.sets([np.array(text.split(), int) for text in texts])

    def ranker(self, images: ItemSets, texts: ItemSets) -> TransportScorer:
        self.scorers.append(TransportScorer(images, texts, weight=0.5, reduction="mean"))
        return self.scorers[-1]

    def similarity(self, images: ItemSets, texts: ItemSets) -> NDArray[np.float32]:
        rows, columns = np.indices((len(images), len(texts)))
        return self.ranker(images, texts).scores(rows.ravel(), columns.ravel()).reshape(rows.shape)


@pytest.mark.parametrize("folds", [1, 3])
def test_figures_equal_those_of_the_whole_matrix(folds: int) -> None:
    folder, model = Folder(), Model()
    texts, owners = folder.captions("test", "en")
    figures = evaluate(model, folder, "test", folds=folds)["en"]
    assert len(model.scorers) == folds
    assert sorted(model.asked) == sorted(set(texts))
    assert all(scorer.solves < np.prod(scorer.shape) for scorer in model.scorers)

    same = Model()  # draws the same noise in the same order
    matrix = same.similarity(same.encode_image(*folder.regions(np.arange(30))), embed_captions(same, texts, "en"))
    expected = evaluate_scores(lambda i, t: matrix[np.ix_(i, t)], owners, 30, folds=folds)
    assert figures == expected
    assert 10 < figures.t2i.r5 < 100


def test_sets_that_are_not_finite_are_named() -> None:
    model = Model()
    model.vectors[:] = np.nan
    with pytest.raises(EvaluationError, match="regions of images, row 0"):
        evaluate(model, Folder(), "test")


def test_the_set_is_named_and_not_its_item() -> None:
    items = np.ones((6, 2), np.float32)
    items[4, 1] = np.inf
    with pytest.raises(EvaluationError, match=r"words, row 1: holds NaN or infinity \(1 such rows of 3\)"):
        checked_sets(ItemSets(items, np.array([3, 2, 1])), "words")


def test_a_report_of_a_model_that_scores_pairs(tmp_path: Path) -> None:
    folder, model = Folder(), Model()
    figures = evaluate(model, folder, "test")
    report_run(model, folder, "test", figures, tmp_path / "report.html", title="pairs", queries=2)
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Captions found for a picture" in text
    assert folder.records[0].captions["en"][0].split()[0] in text
