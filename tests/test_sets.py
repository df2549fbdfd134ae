"""ItemSets: padding, choosing rows, joining."""

from __future__ import annotations

import numpy as np
import pytest

from vse_zoo.sets import ItemSets


def sets(count: int, width: int) -> ItemSets:
    random = np.random.default_rng(count)
    mask = np.arange(width) < random.integers(1, width + 1, count)[:, None]
    return ItemSets((random.normal(size=(count, width, 3)) * mask[..., None]).astype("float32"), mask)


def test_joined_sets_are_padded_to_the_largest() -> None:
    parts = [sets(2, 3), sets(4, 5)]
    joined = ItemSets.concatenate(parts)
    assert len(joined) == 6
    np.testing.assert_array_equal(joined.counts, [*parts[0].counts, *parts[1].counts])
    np.testing.assert_array_equal(joined[:2].items[:, :3], parts[0].items)
    assert not joined.items[:2, 3:].any()
    assert not joined.mask[:2, 3:].any()
    np.testing.assert_array_equal(joined[[5, 2]].items, parts[1][[3, 0]].items)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match=r"expected \(N, R, E\), \(N, R\)"):
        ItemSets(np.zeros((2, 3, 4), "float32"), np.ones((2, 4), bool))
    with pytest.raises(ValueError, match="mask, row 1: the set is empty"):
        ItemSets(np.zeros((2, 3, 4), "float32"), np.array([[True] * 3, [False] * 3]))
