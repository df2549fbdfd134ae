"""Retrieval figures against ir-measures, against naive float64 loops, and on input made to flatter an evaluator."""

from __future__ import annotations

import ir_measures
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_measures import Success
from numpy.typing import NDArray

from vse_zoo.errors import EvaluationError
from vse_zoo.evaluation import Direction, RetrievalFigures, evaluate_retrieval, evaluate_scores


def random_case(seed: int, images: int = 60, most: int = 7) -> tuple[NDArray, NDArray, NDArray]:
    """Random embeddings; every image has 1 to ``most`` captions, which are stored in a random order."""
    rng = np.random.default_rng(seed)
    owners = rng.permutation(np.repeat(np.arange(images), rng.integers(1, most + 1, images)))
    pictures = rng.standard_normal((images, 16)).astype(np.float32)
    return pictures, pictures[owners] + 2 * rng.standard_normal((len(owners), 16)).astype(np.float32), owners


def naive(scores: NDArray, owners: NDArray) -> tuple[Direction, Direction]:
    """The definition, item by item: irrelevant items with an equal score come first."""
    i2t = []
    for image in range(scores.shape[0]):
        own = [scores[image, t] for t in range(len(owners)) if owners[t] == image]
        if own:
            i2t.append(1 + sum(scores[image, t] >= max(own) for t in range(len(owners)) if owners[t] != image))
    t2i = [
        1 + sum(scores[i, t] >= scores[owners[t], t] for i in range(scores.shape[0]) if i != owners[t])
        for t in range(len(owners))
    ]
    return Direction.of(np.array(i2t)), Direction.of(np.array(t2i))


@pytest.mark.parametrize("seed", range(3))
def test_recalls_equal_success_of_ir_measures(seed: int) -> None:
    images, texts, owners = random_case(seed)
    scores = images @ texts.T
    figures = evaluate_retrieval(images, texts, owners, chunk=17)
    pairs = [(i, t) for i in range(len(images)) for t in range(len(texts))]
    for direction, query, item in ((figures.i2t, "i", "t"), (figures.t2i, "t", "i")):
        relevant = [ir_measures.Qrel(*_named(query, i, t), int(owners[t] == i)) for i, t in pairs]
        run = [ir_measures.ScoredDoc(*_named(query, i, t), float(scores[i, t])) for i, t in pairs]
        expected = ir_measures.calc_aggregate([Success @ 1, Success @ 5, Success @ 10], relevant, run)
        found = dict(zip([Success @ 1, Success @ 5, Success @ 10], direction.recalls, strict=True))
        assert found == pytest.approx({measure: 100 * value for measure, value in expected.items()}, abs=1e-9), item


def _named(query: str, image: int, text: int) -> tuple[str, str]:
    return (f"i{image}", f"t{text}") if query == "i" else (f"t{text}", f"i{image}")


@st.composite
def tied_cases(draw: st.DrawFn) -> tuple[NDArray, NDArray, NDArray, int]:
    """Embeddings of small whole numbers: products are exact, ties and duplicates abound, some images lack captions."""
    images, texts = draw(st.integers(1, 9)), draw(st.integers(1, 14))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    values = rng.integers(-1, 2, (images + texts, draw(st.integers(1, 3)))).astype(np.float32)
    return values[:images], values[images:], rng.integers(0, images, texts), draw(st.integers(1, 15))


@settings(max_examples=150, deadline=None)
@given(tied_cases())
def test_ranks_with_ties_equal_a_naive_loop(case: tuple[NDArray, NDArray, NDArray, int]) -> None:
    images, texts, owners, chunk = case
    scores = images.astype(np.float64) @ texts.T.astype(np.float64)
    expected = naive(scores, owners)
    figures = evaluate_retrieval(images, texts, owners, chunk=chunk)
    assert (figures.i2t, figures.t2i) == expected
    by_pair = evaluate_scores(lambda i, t: scores[np.ix_(i, t)], owners, len(images), chunk=chunk)
    assert by_pair == figures


def test_a_collapsed_model_scores_nothing() -> None:
    images, texts = np.full((50, 300), 0.1234567, np.float32), np.full((250, 300), 0.7654321, np.float32)
    figures = evaluate_retrieval(images, texts, np.repeat(np.arange(50), 5), chunk=7)
    assert figures.rsum == 0
    assert (figures.i2t.median_rank, figures.t2i.median_rank) == (246, 50)


def test_copies_tie_exactly_wherever_they_stand() -> None:
    """Every image has a twin, every caption too: the best possible rank is 2, and rounding must not break the tie."""
    rng = np.random.default_rng(0)
    half = rng.standard_normal((333, 517)).astype(np.float32)
    both = np.concatenate([half, half])
    figures = evaluate_retrieval(both, both, np.arange(len(both)), chunk=101)
    for direction in (figures.i2t, figures.t2i):
        assert (direction.r1, direction.r5, direction.mean_rank) == (0, 100, 2)


def test_own_captions_never_count_against_their_image() -> None:
    figures = evaluate_retrieval(np.eye(2), np.eye(2)[[0, 0, 0, 1]], [0, 0, 0, 1])
    assert figures.i2t.r1 == figures.t2i.r1 == 100


def test_one_image_is_found_by_everything() -> None:
    figures = evaluate_retrieval([[1.0, 0.0]], [[0.0, 1.0], [-1.0, 0.0]], [0, 0])
    assert figures.rsum == 600
    assert figures.t2i.queries == 2


def test_an_image_without_captions_is_no_query_but_stays_a_distractor() -> None:
    figures = evaluate_retrieval(np.eye(3), np.eye(3)[[2]], [0])
    assert figures.i2t.queries == 1
    assert figures.t2i.mean_rank == 3  # the true image ties with one other and loses to the third


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("side", ["image_embeddings", "text_embeddings"])
def test_a_number_that_is_none_is_an_error_naming_its_row(bad: float, side: str) -> None:
    given = {"image_embeddings": np.eye(4), "text_embeddings": np.eye(4)}
    given[side][2, 1] = bad
    with pytest.raises(EvaluationError, match=f"{side}, row 2"):
        evaluate_retrieval(**given, text_image=np.arange(4))


def test_scores_that_overflow_or_are_nan_are_errors() -> None:
    with pytest.raises(EvaluationError, match="image 0, item 0: inf"), np.errstate(over="ignore"):
        evaluate_retrieval(np.full((2, 2), 1e38, np.float32), np.full((2, 2), 1e38, np.float32), [0, 1])
    scores = np.eye(5)
    scores[3, 4] = np.nan
    with pytest.raises(EvaluationError, match="image 3, item 4: nan"):
        evaluate_scores(lambda i, t: scores[np.ix_(i, t)], np.arange(5), 5, chunk=2)


@pytest.mark.parametrize(
    ("images", "texts", "owners", "message"),
    [
        (np.eye(3), np.eye(3)[:, :2], [0, 1, 2], "3 dimensions .* 2"),
        (np.eye(3), np.eye(3), [0, 1], "text_image has shape"),
        (np.eye(3), np.eye(3), [0, 1, 3], "row 2: 3 is no row"),
        (np.eye(3), np.eye(3), [0, 1, -1], "row 2: -1 is no row"),
        (np.eye(3), np.eye(3), [0, 1, 0.5], "row 2: 0.5 is no row"),
        (np.zeros((0, 3)), np.eye(3), [0, 1, 2], "image_embeddings has shape"),
        (np.ones(3), np.eye(3), [0, 1, 2], "image_embeddings has shape"),
    ],
)
def test_input_that_does_not_fit_is_refused(images: NDArray, texts: NDArray, owners: list, message: str) -> None:
    with pytest.raises(EvaluationError, match=message):
        evaluate_retrieval(images, texts, owners)


def test_scores_of_the_wrong_shape_are_refused() -> None:
    with pytest.raises(EvaluationError, match=r"shape \(3, 1\): expected \(3, 3\)"):
        evaluate_scores(lambda i, t: np.zeros((len(i), 1)), np.arange(3), 3)


def test_folds_are_contiguous_parts_evaluated_alone() -> None:
    images, texts, owners = random_case(5, images=40)
    figures = evaluate_retrieval(images, texts, owners, folds=5)
    parts = []
    for first in range(0, 40, 8):
        rows = np.flatnonzero((owners >= first) & (owners < first + 8))
        parts.append(evaluate_retrieval(images[first : first + 8], texts[rows], owners[rows] - first))
    for side in ("i2t", "t2i"):
        for field in ("r1", "r5", "r10", "median_rank", "mean_rank"):
            mean = np.mean([getattr(getattr(part, side), field) for part in parts])
            assert getattr(getattr(figures, side), field) == pytest.approx(mean)
    assert (figures.i2t.queries, figures.t2i.queries) == (40, len(texts))
    assert figures == evaluate_scores(lambda i, t: images[i] @ texts[t].T, owners, 40, folds=5)


def test_folds_without_captions_or_images_are_refused() -> None:
    with pytest.raises(EvaluationError, match="fold 1 of 2"):
        evaluate_retrieval(np.eye(4), np.eye(4)[:2], [0, 1], folds=2)
    with pytest.raises(EvaluationError, match="folds=5 of 4"):
        evaluate_retrieval(np.eye(4), np.eye(4), np.arange(4), folds=5)


def test_half_precision_and_rows_in_any_chunk_give_the_same_figures() -> None:
    images, texts, owners = random_case(9)
    images, texts = images.astype(np.float16), texts.astype(np.float16)
    whole = evaluate_retrieval(images, texts, owners)
    assert all(evaluate_retrieval(images, texts, owners, chunk=chunk) == whole for chunk in (1, 2, 59, 1000))


def test_figures_as_plain_numbers() -> None:
    figures = evaluate_retrieval(np.eye(2), np.eye(2), [1, 0])
    assert isinstance(figures, RetrievalFigures)
    assert figures.as_dict()["i2t"] == {
        "r1": 0.0, "r5": 100.0, "r10": 100.0, "median_rank": 2.0, "mean_rank": 2.0, "queries": 2,
    }  # fmt: skip
    assert figures.as_dict()["rsum"] == figures.rsum == 400
