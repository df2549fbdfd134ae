"""Pairs in batches, sets in buckets, known scores: everything is there, once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vse_zoo.ranking.buckets import in_buckets, in_one_bucket
from vse_zoo.ranking.distinct import distinct_rows
from vse_zoo.ranking.groups import batches
from vse_zoo.ranking.solved import Solved
from vse_zoo.sets import ItemSets


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 50)), max_size=60), st.integers(1, 4), st.integers(1, 5))
def test_batches_hold_every_pair_once(pairs: list[tuple[int, int]], groups: int, each: int) -> None:
    images, texts = np.array(pairs, np.int64).reshape(-1, 2).T
    seen = []
    for batch in batches(images, texts, groups, each):
        assert batch.images.shape == (groups,)
        assert batch.texts.shape == (groups, each)
        np.testing.assert_array_equal(np.repeat(batch.images, each)[batch.slots], images[batch.pairs])
        np.testing.assert_array_equal(batch.texts.ravel()[batch.slots], texts[batch.pairs])
        assert len(set(batch.slots.tolist())) == len(batch.slots)
        seen += batch.pairs.tolist()
    assert sorted(seen) == list(range(len(pairs)))


def test_buckets_hold_every_set_and_all_its_items(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vse_zoo.ranking.buckets._FEWEST", 5)
    random = np.random.default_rng(0)
    counts = np.concatenate([random.integers(1, 7, 40), random.integers(1, 22, 20), [40, 2]])
    counts[0] = 6
    sets = ItemSets(random.standard_normal((counts.sum(), 3)).astype(np.float32), counts)
    rows = random.permutation(60)
    buckets, places = in_buckets(sets, rows)
    assert 1 < len(buckets) < 5
    assert [bucket.mask.shape[1] for bucket in buckets] == sorted(bucket.mask.shape[1] for bucket in buckets)
    for number, (bucket, place) in enumerate(places):
        chosen = buckets[bucket]
        assert chosen.members[place] == number
        items, mask = sets.items[chosen.rows[place]], chosen.mask[place].numpy()
        (expected,) = sets[rows[[number]]]
        np.testing.assert_array_equal(items[mask], expected)
        np.testing.assert_array_equal(items[~mask], np.broadcast_to(expected[-1], items[~mask].shape))
    assert in_one_bucket(sets, np.arange(40)).mask.shape == (40, 6)


def test_equal_rows_are_one() -> None:
    first, copies = distinct_rows(np.array([[0.0, 1], [2, 3], [-0.0, 1], [0, 2]]))
    assert first.tolist() == [0, 1, 3]
    assert copies.tolist() == [0, 1, 0, 2]


def test_equal_sets_are_one() -> None:
    """The same numbers in another number of items are another set."""
    items = np.float32([[1, 2], [3, 4], [1, 2], [3, 4], [1, 2], [-0.0, 0], [0, 0]])
    first, copies = distinct_rows(ItemSets(items, np.array([2, 1, 1, 1, 1, 1])))
    assert first.tolist() == [0, 1, 2, 4]
    assert copies.tolist() == [0, 1, 2, 1, 3, 3]


def test_known_scores_are_found_again() -> None:
    solved = Solved()
    assert np.isnan(solved.of(np.array([3]))).all()
    solved.add(np.array([5, 1]), np.float32([50, 10]))
    solved.add(np.array([3, 9]), np.float32([30, 90]))
    assert len(solved) == 4
    np.testing.assert_array_equal(solved.of(np.array([9, 0, 1, 3, 10, 5])), [90, np.nan, 10, 30, np.nan, 50])
