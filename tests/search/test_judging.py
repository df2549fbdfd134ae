"""Queries of a split, which photos are right for them, and a calibration from all of it, on captions written here."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from vse_zoo.data import Dataset, Record, write_dataset
from vse_zoo.errors import EvaluationError
from vse_zoo.preprocessing import TextPreprocessor
from vse_zoo.search.judging import judged_queries
from vse_zoo.search.measuring import calibrate

CAPTIONS = [
    ["a brown dog runs", "the dog is brown"],
    ["a brown horse runs", "a horse"],
    ["a cat sleeps", "the cat lies on a red sofa"],
    ["the brown dog sleeps on a sofa"],
    ["the", "a"],
]
WORDS = ["a", "the", "brown", "dog", "horse", "cat", "runs", "sleeps", "red", "sofa", "on", "is", "lies"]


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """Photo 0 is of the training split; the region of every photo counts its captions' words."""
    folder = tmp_path_factory.mktemp("data")
    records = [Record("0.png", "train", {"en": ["a whale"]})]
    records += [Record(f"{n}.png", "dev", {"en": texts}) for n, texts in enumerate(CAPTIONS, 1)]
    source = {"kind": "folder", "root": str(folder)}
    made = write_dataset(folder / "data", records, name="n", image_source=source, languages=("en",))
    regions = np.array([[0.0] * len(WORDS), *([float(w in " ".join(t).split()) for w in WORDS] for t in CAPTIONS)])
    np.save(folder / "r.npy", regions[:, None].astype(np.float32))
    np.save(folder / "b.npy", np.tile(np.array([0, 0, 1, 1], "f4"), (6, 1, 1)))
    return made.attach_regions(folder / "r.npy", folder / "b.npy", backbone="counts", grid=(1, 1), left_out={})


class Counting:
    """Photos and sentences as the words that they have."""

    languages = ("en",)
    preprocessor = TextPreprocessor({"en": WORDS})

    def encode_image(self, regions: np.ndarray, mask: np.ndarray) -> np.ndarray:
        return self._unit(regions[:, 0])

    def encode_text(self, texts: list[str], language: str) -> np.ndarray:
        return self._unit(np.array([[float(word in text.split()) for word in WORDS] for text in texts]))

    @staticmethod
    def _unit(rows: np.ndarray) -> np.ndarray:
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


def test_a_photo_is_right_if_its_captions_cover_the_telling_words(dataset: Dataset) -> None:
    judged = judged_queries(dataset, "dev", "en", Counting.preprocessor)
    by_text = dict(zip(judged.texts, judged.right.tolist(), strict=True))
    # "a" is in the captions of four photos of five, "the" in those of four: they tell nothing.
    assert by_text["a brown dog runs"] == [True, False, False, False, False]
    assert by_text["the dog is brown"] == [True, False, False, False, False]  # nobody said "is" of the fourth
    assert by_text["a horse"] == [False, True, False, False, False]
    assert by_text["a cat sleeps"] == [False, False, True, False, False]
    assert "the" not in by_text
    assert "a" not in by_text
    common = {"a", "the", "brown"}  # three of five photos are more than half
    for text, owner, right in zip(judged.texts, judged.owners, judged.right, strict=True):
        assert right[owner]
        expected = [set(text.split()) - common <= set(" ".join(several).split()) for several in CAPTIONS]
        assert right.tolist() == expected


def test_fragments_are_parts_of_captions_and_the_same_every_time(dataset: Dataset) -> None:
    judged = judged_queries(dataset, "dev", "en", Counting.preprocessor)
    captions = [text for several in CAPTIONS for text in several]
    whole = [text for text in judged.texts if text in captions]
    fragments = [text for text in judged.texts if text not in captions]
    assert len(whole) + len(fragments) == len(judged.texts) > len(captions) - 2
    assert all(any(f" {text} " in f" {caption} " for caption in captions) for text in fragments)
    assert all(len(text.split()) <= 5 for text in fragments)
    assert judged_queries(dataset, "dev", "en", Counting.preprocessor).texts == judged.texts


def test_a_calibration_is_what_the_results_were(dataset: Dataset) -> None:
    model: Any = Counting()
    found = calibrate(model, dataset, "dev", depth=3)
    assert (found.split, found.photos, found.depth, list(found.curves)) == ("dev", 5, 3, ["en"])
    judged = judged_queries(dataset, "dev", "en", model.preprocessor)
    images = model.encode_image(*dataset.regions(dataset.indices("dev")))
    scores = model.encode_text(judged.texts, "en") @ images.T
    best = np.argsort(-scores, axis=1, kind="stable")
    figures = found.figures["en"]
    assert figures["queries"] == len(judged.texts)
    assert figures["first_right"] == np.mean([judged.right[q, best[q, 0]] for q in range(len(best))])
    short = np.array([len(text.split()) <= 5 for text in judged.texts])
    top = np.take_along_axis(scores, best[:, :3], 1)[short].ravel()
    right = np.take_along_axis(judged.right, best[:, :3], 1)[short].ravel()
    # Isotonic regression keeps the mean.
    assert found.curves["en"]["short"](top).mean() == pytest.approx(right.mean())
    assert found.curves["en"]["short"](np.array([0.999]))[0] > found.curves["en"]["short"](np.array([0.1]))[0]


def test_a_split_without_captions_is_an_error(dataset: Dataset) -> None:
    model: Any = Counting()
    model.languages = ("de",)
    with pytest.raises(EvaluationError, match="no caption in the model's languages"):
        calibrate(model, dataset, "dev")
