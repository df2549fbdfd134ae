"""Top K and true ranks from limits, against sorting and counting over the whole matrix; ties abound."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from vse_zoo.ranking import PairScorer, best_items, top_k, true_ranks


class Scorer:
    """Known scores; limits above them by a random amount; a second, closer limit where ``at_least`` is given."""

    def __init__(self, values: NDArray, gaps: NDArray) -> None:
        self.values, self.gaps = np.float32(values), np.float32(gaps)
        self.shape = self.values.shape
        self.asked: set[tuple[int, int]] = set()

    @property
    def solves(self) -> int:
        return len(self.asked)

    def limits(self, rows: NDArray, columns: NDArray) -> NDArray:
        return (self.values + self.gaps)[np.ix_(rows, columns)]

    def scores(self, rows: NDArray, columns: NDArray, at_least: NDArray | None = None) -> NDArray:
        found = self.values[rows, columns]
        if at_least is not None:
            found = np.where(found + self.gaps[rows, columns] / 2 >= at_least, found, -np.inf)
        self.asked |= {(int(r), int(c)) for r, c, s in zip(rows, columns, found, strict=True) if s > -np.inf}
        return found


@st.composite
def scorers(draw: st.DrawFn) -> Scorer:
    """Scores of few different values and limits that often touch them."""
    rows, columns = draw(st.integers(1, 8)), draw(st.integers(1, 20))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    values = random.integers(0, draw(st.integers(1, 30)), (rows, columns))
    return Scorer(values, random.integers(0, draw(st.integers(1, 8)), (rows, columns)))


@settings(max_examples=200, deadline=None)
@given(scorers(), st.integers(1, 25), st.sampled_from(["row", "column"]))
def test_top_k_equals_a_stable_sort(scorer: Scorer, k: int, query: str) -> None:
    values = scorer.values if query == "row" else scorer.values.T
    expected = np.argsort(-values, axis=1, kind="stable")[:, :k]
    found = top_k(scorer, k, query=query)
    np.testing.assert_array_equal(found.indices, expected)
    np.testing.assert_array_equal(found.scores, np.take_along_axis(values, expected, 1))
    assert found.solves == scorer.solves


@settings(max_examples=200, deadline=None)
@given(scorers(), st.integers(0, 2**32 - 1))
def test_true_ranks_equal_counting(scorer: Scorer, seed: int) -> None:
    values, (rows, columns) = scorer.values, scorer.shape
    owners = np.random.default_rng(seed).integers(0, rows, columns)
    found = true_ranks(scorer, owners)
    by_column = [
        1 + sum(values[i, j] >= values[owners[j], j] for i in range(rows) if i != owners[j]) for j in range(columns)
    ]
    by_row = [
        1 + sum(values[i, j] >= values[i, owners == i].max() for j in range(columns) if owners[j] != i)
        for i in np.unique(owners)
    ]
    assert (found.columns.tolist(), found.rows.tolist()) == (by_column, by_row)
    assert found.solves == scorer.solves


def test_tight_limits_spare_most_pairs() -> None:
    random = np.random.default_rng(0)
    values = random.standard_normal((50, 400))
    owners = np.argmax(values, axis=0)
    exact = Scorer(values, np.full(values.shape, 0.01))
    assert true_ranks(exact, owners).columns.max() == 1
    assert exact.solves < 0.05 * values.size
    again = Scorer(values, np.full(values.shape, 0.01))
    assert top_k(again, 10).solves < 12 * 50  # the ten themselves, and few more


def test_items_without_a_limit_are_left_out() -> None:
    limits = np.float32([[3, -np.inf, 2], [-np.inf, -np.inf, -np.inf]])
    indices, scores = best_items(limits, lambda queries, items, least: limits[queries, items], 2)
    assert indices.tolist() == [[0, 2], [3, 3]]
    assert scores.tolist() == [[3, 2], [-np.inf, -np.inf]]


@pytest.mark.parametrize(("k", "query"), [(0, "row"), (1, "image")])
def test_a_question_without_an_answer_is_refused(k: int, query: str) -> None:
    with pytest.raises(ValueError, match="expected k ≥ 1"):
        top_k(Scorer(np.eye(2), np.eye(2)), k, query=query)


def test_the_double_keeps_the_protocol() -> None:
    scorer: PairScorer = Scorer(np.eye(2), np.eye(2))
    assert scorer.shape == (2, 2)
