"""The map of a split: which captions it takes, and its cosines against a loop over all pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from vse_zoo.evaluation.report.asking import Captions, EmbeddedSplit
from vse_zoo.evaluation.report.content import Picture
from vse_zoo.evaluation.report.mapping import map_space

ROWS = np.array([2, 3, 5, 7, 11, 13])


class Named:
    """Pictures that are their row's name."""

    def open(self, row: int) -> Any:
        return Picture(None, f"{row}.jpg")


@pytest.fixture
def split() -> EmbeddedSplit:
    """Six images, with one to three captions each in two languages; caption "en 5 1" is the second of row 5."""
    random = np.random.default_rng(0)
    captions = {}
    for language in ("en", "de"):
        pairs = [(int(row), n) for row in ROWS for n in range(random.integers(1, 4))]
        texts = [f"{language} {row} {n}" for row, n in pairs]
        vectors = random.standard_normal((len(pairs), 4))
        captions[language] = Captions(texts, np.array([row for row, _ in pairs]), vectors)
    return EmbeddedSplit(ROWS, random.standard_normal((6, 4)), captions)


def test_cosines_equal_those_of_a_loop(split: EmbeddedSplit) -> None:
    drawn = ROWS[[4, 0, 5, 2, 1]]
    found = map_space(split, Named(), drawn, np.random.default_rng(1), seed=0)
    assert found.points.shape == (3, 5, 2)
    assert [each.picture.name for each in found.triples] == [f"{row}.jpg" for row in drawn]
    views = [[split.images[list(ROWS).index(row)] for row in drawn]]
    for language, captions in split.captions.items():
        texts = [each.captions[language] for each in found.triples]
        assert [int(text.split()[1]) for text in texts] == drawn.tolist()
        views.append([captions.encoded[captions.texts.index(text)] for text in texts])
    for i, one in enumerate(views):
        for j, other in enumerate(views):
            cosines = [[a @ b / np.linalg.norm(a) / np.linalg.norm(b) for b in other] for a in one]
            np.testing.assert_allclose(found.cosines[i, j], np.diag(cosines), atol=1e-12)
            apart = np.mean([cosines[p][q] for p in range(5) for q in range(5) if p != q])
            np.testing.assert_allclose(found.others[i, j], apart, atol=1e-12)


def test_the_rows_in_all_languages(split: EmbeddedSplit) -> None:
    only = Captions(["x"], np.array([5]), np.ones((1, 4)))
    assert EmbeddedSplit(ROWS, split.images, {**split.captions, "fr": only}).in_all_languages.tolist() == [5]
    np.testing.assert_array_equal(split.in_all_languages, ROWS)
