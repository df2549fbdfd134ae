"""Sentences that search sentences, against a loop over all of them, and on input made to flatter an evaluator."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from vse_zoo.data import Dataset, Record, write_dataset
from vse_zoo.errors import DataError, EvaluationError
from vse_zoo.evaluation import Direction
from vse_zoo.evaluation.sentence_retrieval import evaluate_between, evaluate_sentences
from vse_zoo.evaluation.sentence_tables import sentences_as_dict
from vse_zoo.sets import ItemSets

Case = tuple[NDArray[Any], NDArray[Any], NDArray[np.int64], NDArray[np.int64], int]


def naive(scores: NDArray[Any], queries: NDArray[np.int64], items: NDArray[np.int64]) -> list[int]:
    """Rank of every query that has an answer: wrong sentences with an equal score come first."""
    found = []
    for query, image in enumerate(queries):
        own = [scores[query, item] for item in range(len(items)) if items[item] == image]
        if own:
            found.append(1 + sum(scores[query, item] >= max(own) for item in range(len(items)) if items[item] != image))
    return found


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Small whole numbers: exact products, many ties and copies; some images are described on one side only."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sizes, images = (draw(st.integers(1, 12)), draw(st.integers(1, 12))), draw(st.integers(1, 6))
    first, second = (random.integers(-1, 2, (size, draw(st.just(2)))).astype(np.float32) for size in sizes)
    owners = [random.integers(0, images, size) for size in sizes]
    owners[1][0] = owners[0][0]  # at least one image on both sides
    return first, second, owners[0], owners[1], draw(st.integers(1, 13))


@settings(max_examples=150, deadline=None)
@given(cases())
def test_ranks_equal_a_naive_loop(case: Case) -> None:
    first, second, a, b, chunk = case
    scores = first.astype(float) @ second.astype(float).T
    found = evaluate_sentences(first, second, a, b, chunk=chunk)
    assert found.forward == Direction.of(np.array(naive(scores, a, b)))
    assert found.backward == Direction.of(np.array(naive(scores.T, b, a)))
    assert found.images == len(set(a) & set(b))


def test_any_sentence_of_the_image_answers() -> None:
    """The second sentence of image 0 is as far from the query as can be, and does not count against it."""
    found = evaluate_sentences([[1, 0], [0, 1]], [[1, 0], [-1, 0], [0, 1]], np.array([0, 1]), np.array([0, 0, 1]))
    assert (found.forward.r1, found.forward.queries) == (100, 2)
    assert (found.backward.r1, found.backward.queries) == (pytest.approx(200 / 3), 3)


def test_a_collapsed_model_scores_nothing() -> None:
    first, second = np.full((60, 33), 0.1234567, np.float32), np.full((60, 33), 0.7654321, np.float32)
    found = evaluate_sentences(first, second, np.arange(60) // 5, np.arange(60) // 5, chunk=7)
    assert found.rsum == 0
    assert found.forward.median_rank == found.backward.median_rank == 56


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("side", ["first", "second"])
def test_a_number_that_is_none_is_an_error_naming_its_row(bad: float, side: str) -> None:
    sides = {"first": np.eye(4), "second": np.eye(4)}
    sides[side][2, 1] = bad
    with pytest.raises(EvaluationError, match=f"{side}, row 2"):
        evaluate_sentences(**sides, first_image=np.arange(4), second_image=np.arange(4))


@pytest.mark.parametrize(
    ("second", "first_image", "second_image", "problem"),
    [
        (np.eye(3), np.arange(4), np.arange(3), "found 4 and 3 dimensions"),
        (np.eye(4), np.arange(3), np.arange(4), r"first_image: found int64 of shape \(3,\), expected \(4,\)"),
        (np.eye(4), np.arange(4), np.arange(4) / 2, "second_image: found float64"),
        (np.eye(4), np.arange(4), np.arange(4) + 4, "no image is described on both sides"),
    ],
)
def test_refuses_what_does_not_fit(second: Any, first_image: Any, second_image: Any, problem: str) -> None:
    with pytest.raises(EvaluationError, match=problem):
        evaluate_sentences(np.eye(4), second, first_image, second_image)


class Planted:
    """Sentences "<language> <image> <number>" with a vector of their image and noise."""

    languages = ("en", "de", "fr")

    def encode_text(self, texts: Sequence[str], language: str) -> Any:
        assert all(text.startswith(language) for text in texts)
        return np.stack([self._vector(text) for text in texts])

    @staticmethod
    def _vector(text: str) -> NDArray[Any]:
        image = int(text.split()[1])
        noise = np.random.default_rng(sum(text.encode()) * 31 + image).normal(size=8)
        return np.random.default_rng(image).normal(size=8) + 0.8 * noise


class Sets(Planted):
    def encode_text(self, texts: Sequence[str], language: str) -> Any:
        return ItemSets(np.ones((len(texts), 2)), np.ones(len(texts), np.int64))


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    """Twelve test images: image 0 has no German captions, image 1 no English ones, only image 5 has French ones."""
    records = []
    for image in range(12):
        counts = {"en": 0 if image == 1 else 2 + image % 2, "de": 0 if image == 0 else 1 + image % 3, "fr": image == 5}
        captions = {name: [f"{name} {image} {number}" for number in range(n)] for name, n in counts.items() if n}
        records.append(Record(f"{image}.jpg", "test", captions))
    records.append(Record("train.jpg", "train", {"en": ["en 99 0"]}))
    write_dataset(tmp_path / "d", records, name="n", image_source={"kind": "none"}, languages=("en", "de", "fr"))
    return Dataset.open(tmp_path / "d")


def test_images_with_captions_in_both_languages_take_part(dataset: Dataset) -> None:
    found = evaluate_between(Planted(), dataset, "test", ("en", "de", "fr"))
    assert list(found) == [("en", "de"), ("en", "fr"), ("de", "fr")]
    texts = {name: [t for r in dataset.records[2:12] for t in r.captions[name]] for name in ("en", "de")}
    vectors = {name: Planted().encode_text(texts[name], name) for name in texts}
    a, b = (np.array([int(text.split()[1]) for text in texts[name]]) for name in ("en", "de"))
    scores = vectors["en"] @ vectors["de"].T
    both = found["en", "de"]
    assert both.images == 10
    assert both.forward == Direction.of(np.array(naive(scores, a, b)))
    assert both.backward == Direction.of(np.array(naive(scores.T, b, a)))
    assert 0 < both.forward.r1 < 100
    assert found["en", "fr"].images == 1
    assert (found["en", "fr"].rsum, found["en", "fr"].forward.queries) == (600, 3)
    listed = sentences_as_dict(found, "test")
    assert listed["between"][0] == {"first": "en", "second": "de", **both.as_dict()}


@pytest.mark.parametrize(
    ("model", "languages", "problem"),
    [
        (Planted(), ("en",), "languages: found en, expected two or more different"),
        (Planted(), ("en", "en"), "languages: found en, en, expected two or more different"),
        (Planted(), (), "languages: found none"),
        (Sets(), ("en", "de"), "Sets compares regions with words, so that a sentence has no single vector"),
    ],
)
def test_refuses_what_has_no_figures(dataset: Dataset, model: Any, languages: Sequence[str], problem: str) -> None:
    with pytest.raises(EvaluationError, match=problem):
        evaluate_between(model, dataset, "test", languages)


def test_refuses_languages_that_one_side_lacks(dataset: Dataset) -> None:
    with pytest.raises(EvaluationError, match="no image of split 'train' has captions in both 'en' and 'de'"):
        evaluate_between(Planted(), dataset, "train", ("en", "de"))
    with pytest.raises(DataError, match="found 'it', expected one of: en, de, fr"):
        evaluate_between(Planted(), dataset, "test", ("en", "it"))
    bilingual = type("Bilingual", (Planted,), {"languages": ("en", "de")})
    with pytest.raises(EvaluationError, match="Bilingual, language: found 'fr', the model knows en, de"):
        evaluate_between(bilingual(), dataset, "test", ("en", "fr"))
