"""PPMI and its truncated SVD against a naive loop and NumPy's dense SVD, and on real captions."""

from __future__ import annotations

import csv
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from vse_zoo.errors import DataError
from vse_zoo.features.word_vectors import learn_word_vectors

WINDOW, VOCABULARY = 3, 24


def sentences(seed: int = 0, count: int = 120) -> list[list[int]]:
    generator = np.random.default_rng(seed)
    return [generator.integers(0, VOCABULARY - 2, generator.integers(0, 9)).tolist() for _ in range(count)]


def naive_ppmi(corpus: list[list[int]], smoothing: float, negatives: float) -> np.ndarray:
    """Word by word, as Levy, Goldberg and Dagan write it; ids 0 and 1 are no words."""
    counts = np.zeros((VOCABULARY, VOCABULARY))
    for sentence in corpus:
        for i, word in enumerate(sentence):
            for j in range(max(0, i - WINDOW), min(len(sentence), i + WINDOW + 1)):
                if i != j and word >= 2 and sentence[j] >= 2:
                    counts[word, sentence[j]] += 1
    context = counts.sum(axis=0) ** smoothing
    ppmi = np.zeros_like(counts)
    for word, other in zip(*np.nonzero(counts), strict=True):
        joint = counts[word, other] / counts.sum()
        independent = counts[word].sum() / counts.sum() * context[other] / context.sum()
        ppmi[word, other] = max(0.0, np.log(joint / independent) - np.log(negatives))
    return ppmi


@pytest.mark.parametrize(("smoothing", "negatives"), [(0.75, 1.0), (1.0, 1.0), (0.75, 1.2)])
def test_equals_the_dense_svd_of_the_naive_ppmi(smoothing: float, negatives: float) -> None:
    dim = 9
    options = {"window": WINDOW, "smoothing": smoothing, "negatives": negatives}
    learned = learn_word_vectors(sentences(), VOCABULARY, dim, **options)
    ppmi = naive_ppmi(sentences(), smoothing, negatives)
    left, singular, _ = np.linalg.svd(ppmi)
    expected = left[:, :dim] * np.sqrt(singular[:dim])
    signs = np.sign(expected[np.abs(expected).argmax(axis=0), np.arange(dim)])
    np.testing.assert_allclose(learned.vectors, expected * signs, atol=1e-5)
    np.testing.assert_array_equal(learned.found, ppmi.any(axis=1))
    assert not learned.vectors[~learned.found].any()


def test_padded_ids_and_lists_give_the_same_vectors_bit_for_bit() -> None:
    lists = sentences(1)
    padded = np.zeros((len(lists), 12), np.int32)
    for row, sentence in enumerate(lists):
        padded[row, : len(sentence)] = sentence
    one, other = (learn_word_vectors(ids, VOCABULARY, 5, window=WINDOW) for ids in (lists, padded))
    np.testing.assert_array_equal(one.vectors, other.vectors)


@pytest.mark.parametrize("dim", [0, 20, 300])
def test_more_dimensions_than_the_rank_are_refused(dim: int) -> None:
    with pytest.raises(DataError, match=rf"found {dim} dimensions, expected 1 to 19: the rank"):
        learn_word_vectors(sentences(), VOCABULARY, dim, window=WINDOW)


def test_a_rank_below_the_number_of_words_is_found() -> None:
    # A pair, and three words that meet the same fourth: rank 2 each, in 6 rows.
    corpus = [[2, 3], [4, 5], [6, 5], [7, 5]] * 3
    with pytest.raises(DataError, match=r"found 5 dimensions, expected 1 to 4: the rank"):
        learn_word_vectors(corpus, 8, 5)
    assert learn_word_vectors(corpus, 8, 4).found[2:].all()


@pytest.mark.parametrize("corpus", [[], [[]], [[2], [3]], [[0, 1, 1]]])
def test_sentences_without_pairs_are_refused(corpus: list[list[int]]) -> None:
    with pytest.raises(DataError, match="expected 1 to 0: the rank"):
        learn_word_vectors(corpus, 6, 2)


def test_ids_outside_the_vocabulary_are_refused() -> None:
    with pytest.raises(DataError, match="found 2 to 9, expected 0 to 4"):
        learn_word_vectors([[2, 9]], 5, 1)


def test_neighbours_on_real_captions(shared_data: Path) -> None:
    with (shared_data / "flickr8k" / "captions.txt").open(encoding="utf-8") as file:
        captions = [re.findall(r"\w+", row["caption"].lower()) for row in csv.DictReader(file)]
    counts = Counter(word for caption in captions for word in caption)
    words = ["", "[UNK]", *sorted(word for word in counts if counts[word] >= 20)]
    ids = {word: place for place, word in enumerate(words)}
    learned = learn_word_vectors(
        [[ids.get(word, 1) for word in caption] for caption in captions], len(words), 50, window=2
    )
    unit = learned.vectors / np.maximum(np.linalg.norm(learned.vectors, axis=1, keepdims=True), 1e-9)

    def near(word: str) -> set[str]:
        return {words[place] for place in np.argsort(-unit @ unit[ids[word]])[1:11]}

    assert "puppy" in near("dog")
    assert {"blue", "yellow", "green"} <= near("red")
    assert "boy" in near("girl")
    assert "ocean" in near("beach") or "shore" in near("beach")
