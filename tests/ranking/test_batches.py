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
    mask = random.random((60, 21)) < 0.4
    mask[np.arange(60), random.integers(0, 10, 60)] = True
    mask[:40, 6:] = False
    sets = ItemSets(random.standard_normal((60, 21, 3)).astype(np.float32), mask)
    buckets, places = in_buckets(sets)
    assert 1 < len(buckets) < 5
    assert [bucket.mask.shape[1] for bucket in buckets] == sorted(bucket.mask.shape[1] for bucket in buckets)
    for number, (bucket, place) in enumerate(places):
        chosen = buckets[bucket]
        assert chosen.members[place] == number
        np.testing.assert_array_equal(chosen.items[place][chosen.mask[place]], sets.items[number][mask[number]])
        assert not chosen.items[place][~chosen.mask[place].numpy()].numpy().any()
    assert in_one_bucket(sets[:40]).mask.shape == (40, 6)


def test_equal_rows_of_all_arrays_are_one() -> None:
    numbers = np.array([[0.0, 1], [2, 3], [-0.0, 1], [0, 1]])
    flags = np.array([True, True, True, False])
    first, copies = distinct_rows(numbers, flags)
    assert first.tolist() == [0, 1, 3]
    assert copies.tolist() == [0, 1, 0, 2]


def test_known_scores_are_found_again() -> None:
    solved = Solved()
    assert np.isnan(solved.of(np.array([3]))).all()
    solved.add(np.array([5, 1]), np.float32([50, 10]))
    solved.add(np.array([3, 9]), np.float32([30, 90]))
    assert len(solved) == 4
    np.testing.assert_array_equal(solved.of(np.array([9, 0, 1, 3, 10, 5])), [90, np.nan, 10, 30, np.nan, 50])
