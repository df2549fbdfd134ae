"""Scores of sets against a plain float64 loop; limits above them; ranks and top K equal to those of the full matrix."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from vse_zoo.ranking import TransportScorer, top_k, true_ranks
from vse_zoo.sets import ItemSets

FORMS = [("text_image", "sum"), ("text_image", "mean"), ("image_text", "sum"), ("image_text", "mean")]


def sets(random: np.random.Generator, vectors: NDArray, most: int, width: int) -> ItemSets:
    """Each set: 1 to ``most`` unit vectors around a centre (N, E)."""
    items = vectors[:, None] + 1.2 * random.standard_normal((len(vectors), width, vectors.shape[1]))
    mask = np.arange(width) < random.integers(1, most + 1, len(vectors))[:, None]
    items /= np.linalg.norm(items, axis=2, keepdims=True)
    return ItemSets.of(np.float32(items), mask)


@pytest.fixture(scope="module")
def planted() -> tuple[ItemSets, ItemSets, NDArray[np.int64]]:
    """24 images with 3 captions each; two images are equal, and several captions of different images."""
    random = np.random.default_rng(0)
    centres = random.standard_normal((24, 12))
    owners = np.repeat(np.arange(24), 3)
    images, texts = sets(random, centres, 6, 6), sets(random, centres[owners], 7, 9)
    images, texts = images[[*range(23), 4]], texts[[*range(70), 4, 12]]
    return images, texts, owners


def naive(images: ItemSets, texts: ItemSets, weight: float, direction: str, reduction: str) -> NDArray[np.float64]:
    """The definition, pair by pair: IPOT, rounding, and S."""
    scores = np.empty((len(images), len(texts)))
    for (i, regions), (j, words) in product(enumerate(images), enumerate(texts)):
        cosine = regions.astype(np.float64) @ words.T
        best = cosine.max(axis=0 if direction == "text_image" else 1)
        scores[i, j] = (best.sum() if reduction == "sum" else best.mean()) - weight * transport(1 - cosine)
    return scores


def transport(cost: NDArray[np.float64]) -> float:
    mu, nu = (np.full(size, 1 / size) for size in cost.shape)
    kernel, plan, b = np.exp(-cost / 0.5), np.ones(cost.shape), nu
    for _ in range(20):
        q = kernel * plan
        a = mu / (q @ b)
        b = nu / (q.T @ a)
        plan = a[:, None] * q * b
    plan *= np.minimum(1, mu / plan.sum(axis=1))[:, None]
    plan *= np.minimum(1, nu / plan.sum(axis=0))
    rest = mu - plan.sum(axis=1), nu - plan.sum(axis=0)
    if rest[0].sum() > 1e-15:
        plan += np.outer(*rest) / rest[0].sum()
    return float((plan * cost).sum())


def full(scorer: TransportScorer) -> NDArray[np.float32]:
    rows, columns = np.indices(scorer.shape)
    return scorer.scores(rows.ravel(), columns.ravel()).reshape(scorer.shape)


@pytest.mark.parametrize(("direction", "reduction"), FORMS)
def test_scores_limits_and_rankings_of_every_form(planted: tuple, direction: str, reduction: str) -> None:
    images, texts, owners = planted
    form = {"weight": 1.5, "direction": direction, "reduction": reduction}
    scores = full(TransportScorer(images, texts, **form))
    np.testing.assert_allclose(scores, naive(images, texts, **form), rtol=0, atol=2e-5)

    scorer = TransportScorer(images, texts, **form)
    assert (scorer.limits(np.arange(24), np.arange(72)) >= scores).all()
    ranks = true_ranks(scorer, owners)
    own = scores[owners, np.arange(72)]
    others = owners[None] != np.arange(24)[:, None]
    assert ranks.columns.tolist() == (1 + ((scores >= own) & others).sum(axis=0)).tolist()
    best = np.where(others, -np.inf, scores).max(axis=1)
    assert ranks.rows.tolist() == (1 + ((scores >= best[:, None]) & others).sum(axis=1)).tolist()

    for query, matrix in (("row", scores), ("column", scores.T)):
        found = top_k(TransportScorer(images, texts, **form), 5, query=query)
        np.testing.assert_array_equal(found.indices, np.argsort(-matrix, axis=1, kind="stable")[:, :5])
        assert found.solves < scores.size


def test_equal_items_tie_exactly_and_are_solved_once(planted: tuple) -> None:
    images, texts, _ = planted
    scorer = TransportScorer(images, texts, weight=1.5)
    scores = full(scorer)
    np.testing.assert_array_equal(scores[4], scores[23])
    np.testing.assert_array_equal(scores[:, [4, 12]], scores[:, [70, 71]])
    assert scorer.solves == 23 * 70
    full(scorer)
    assert scorer.solves == 23 * 70


def test_a_score_does_not_depend_on_its_batch(planted: tuple) -> None:
    images, texts, _ = planted
    scores = full(TransportScorer(images, texts, weight=1.5))
    scorer = TransportScorer(images, texts, weight=1.5)
    alone = [float(scorer.scores(np.array([i]), np.array([j]))[0]) for i, j in ((0, 0), (7, 50), (23, 71))]
    np.testing.assert_allclose(alone, [scores[0, 0], scores[7, 50], scores[23, 71]], rtol=0, atol=1e-6)


def test_one_process_ranks_for_models_of_several_sizes() -> None:
    """The functions are traced for more general shapes then."""
    random = np.random.default_rng(3)
    for length, regions, words in ((5, 4, 6), (7, 3, 9), (3, 6, 5)):
        images, texts = (
            sets(random, random.standard_normal((count, length)), most, most)
            for count, most in ((4, regions), (6, words))
        )
        form = {"weight": 0.7, "direction": "text_image", "reduction": "sum"}
        scorer = TransportScorer(images, texts, **form)
        expected = naive(images, texts, **form)
        assert (scorer.limits(np.arange(4), np.arange(6)) >= expected - 2e-5).all()
        np.testing.assert_allclose(full(scorer), expected, rtol=0, atol=2e-5)


def test_plans_are_counted(planted: tuple, monkeypatch: pytest.MonkeyPatch) -> None:
    from vse_zoo.ranking import scorer as module

    images, texts, owners = planted
    plans, compute = [], module.transport_cost
    monkeypatch.setattr(
        module, "transport_cost", lambda cost, *rest, **more: (plans.append(len(cost)), compute(cost, *rest, **more))[1]
    )
    scorer = TransportScorer(images, texts, weight=1.5, reduction="mean")
    assert true_ranks(scorer, owners).solves + top_k(scorer, 3).solves == sum(plans) == scorer.solves


def test_without_transport_no_plan_is_computed(planted: tuple) -> None:
    images, texts, owners = planted
    scorer = TransportScorer(images, texts, weight=0)
    np.testing.assert_allclose(full(scorer), naive(images, texts, 0, "text_image", "sum"), rtol=0, atol=1e-5)
    assert true_ranks(scorer, owners).solves == 0


def test_limits_that_do_not_fit_are_computed_when_asked_for(planted: tuple, monkeypatch: pytest.MonkeyPatch) -> None:
    images, texts, _ = planted
    kept = TransportScorer(images, texts, weight=1.5).limits(np.arange(24), np.arange(72))
    monkeypatch.setattr("vse_zoo.ranking.scorer._KEPT", 0)
    rows, columns = np.array([23, 4, 0]), np.array([71, 5, 12, 5])
    found = TransportScorer(images, texts, weight=1.5).limits(rows, columns)
    np.testing.assert_allclose(found, kept[np.ix_(rows, columns)], rtol=0, atol=1e-6)


def test_what_does_not_fit_is_refused(planted: tuple) -> None:
    images, texts, _ = planted
    with pytest.raises(ValueError, match="expected equal ones, λ ≥ 0"):
        TransportScorer(images, texts, weight=-1)
    with pytest.raises(ValueError, match="length of regions and words"):
        TransportScorer(ItemSets(images.items[:, :5], images.counts), texts, weight=1)
