"""ItemSets: compact and padded forms, choosing rows, joining, memory."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from vse_zoo.sets import ItemSets


def ragged(random: np.random.Generator, counts: NDArray[np.int64] | list[int], size: int = 3) -> ItemSets:
    counts = np.asarray(counts, np.int64)
    return ItemSets(random.standard_normal((counts.sum(), size)).astype(np.float32), counts)


@st.composite
def padded_sets(draw: st.DrawFn) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Items (N, R, E) and a mask with holes; padding isn't zero."""
    count, width, size = draw(st.integers(1, 8)), draw(st.integers(1, 6)), draw(st.integers(1, 4))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    mask = random.random((count, width)) < draw(st.floats(0, 1))
    mask[np.arange(count), random.integers(0, width, count)] = True
    return random.standard_normal((count, width, size)).astype(np.float32), mask


@given(padded_sets(), st.data())
def test_rows_of_compact_sets_are_those_of_padded_ones(
    given_sets: tuple[NDArray[np.float32], NDArray[np.bool_]], data: st.DataObject
) -> None:
    items, mask = given_sets
    rows = data.draw(st.lists(st.integers(-len(items), len(items) - 1), min_size=1, max_size=12))
    chosen = ItemSets.of(items, mask)[rows]
    found, real = chosen.padded()
    np.testing.assert_array_equal(chosen.counts, mask[rows].sum(axis=1))
    np.testing.assert_array_equal(real, np.arange(mask[rows].sum(axis=1).max()) < chosen.counts[:, None])
    assert not found[~real].any()
    for number, (row, each) in enumerate(zip(rows, chosen, strict=True)):
        np.testing.assert_array_equal(each, items[row][mask[row]])
        np.testing.assert_array_equal(found[number][real[number]], items[row][mask[row]])
    again = ItemSets.of(found, real)
    np.testing.assert_array_equal(again.items, chosen.items)
    np.testing.assert_array_equal(again.counts, chosen.counts)


@given(padded_sets(), st.data())
def test_slices_masks_and_joined_parts(
    given_sets: tuple[NDArray[np.float32], NDArray[np.bool_]], data: st.DataObject
) -> None:
    sets = ItemSets.of(*given_sets)
    rows = np.arange(len(sets))
    flags = np.array(data.draw(st.lists(st.booleans(), min_size=len(sets), max_size=len(sets))), bool)
    for which in (slice(1, None), slice(None, None, -2), slice(0, 0), flags, flags.tolist(), []):
        chosen = sets[which]
        expected = [list(sets)[row] for row in rows[which]]
        assert len(chosen) == len(expected) == len(list(chosen))
        for each, other in zip(chosen, expected, strict=True):
            np.testing.assert_array_equal(each, other)
    cut = data.draw(st.integers(0, len(sets)))
    joined = ItemSets.concatenate([sets[:cut], sets[cut:]])
    np.testing.assert_array_equal(joined.items, sets.items)
    np.testing.assert_array_equal(joined.offsets, sets.offsets)


def test_a_width_may_be_asked_for() -> None:
    sets = ragged(np.random.default_rng(0), [2, 1])
    items, mask = sets.padded(4)
    assert mask.tolist() == [[True, True, False, False], [True, False, False, False]]
    np.testing.assert_array_equal(items[:, :2], sets.padded()[0])
    assert items.shape == (2, 4, 3)
    assert not items[:, 2:].any()


def test_consecutive_rows_share_memory() -> None:
    sets = ragged(np.random.default_rng(0), [2, 1, 4, 3])
    for rows in (slice(1, 3), [1, 2], np.arange(4), [False, True, True, False]):
        assert np.shares_memory(sets[rows].items, sets.items)
    assert not np.shares_memory(sets[[2, 1]].items, sets.items)


def test_one_large_set_costs_the_others_nothing() -> None:
    """1,000 sets, one of 200 items: in all steps less than three times the memory of the real items."""
    counts = np.full(1_000, 5)
    counts[400] = 200
    random = np.random.default_rng(0)
    parts = [ragged(random, counts[start : start + 100], 64) for start in range(0, 1_000, 100)]
    real = counts.sum() * 64 * 4
    tracemalloc.start()
    try:
        sets = ItemSets.concatenate(parts)[random.permutation(1_000)]
        held, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert sets.items.nbytes == real
    assert held < 1.1 * real
    assert peak < 3 * real


def test_what_does_not_fit_is_refused() -> None:
    items = np.zeros((3, 4), np.float32)
    with pytest.raises(ValueError, match=r"expected \(N, R, E\), \(N, R\)"):
        ItemSets.of(np.zeros((2, 3, 4), np.float32), np.ones((2, 4), bool))
    with pytest.raises(ValueError, match="row 1: the set is empty"):
        ItemSets.of(np.zeros((2, 3, 4), np.float32), np.array([[True] * 3, [False] * 3]))
    with pytest.raises(ValueError, match="row 2: the set is empty"):
        ItemSets(items, np.array([1, 2, 0]))
    with pytest.raises(ValueError, match="add up to 2, expected 3 items"):
        ItemSets(items, np.array([1, 1]))
    with pytest.raises(ValueError, match=r"expected \(total, E\), \(N,\)"):
        ItemSets(items[None], np.array([1, 2]))
    with pytest.raises(ValueError, match="rows: found 1, expected a slice"):
        ItemSets(items, np.array([1, 2]))[1]
