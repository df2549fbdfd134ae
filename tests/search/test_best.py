"""The best of many scores is the head of a full sort."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from vse_zoo.search.best import best


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.sampled_from([-np.inf, -1.5, -0.0, 0.0, 0.25, 1.0, 3e38]), max_size=40),
    st.integers(1, 50),
    st.randoms(),
)
def test_the_best_are_the_head_of_a_full_sort(scores: list[float], k: int, random) -> None:
    keys = list(range(1, len(scores) + 1))
    random.shuffle(keys)
    found, values = best(np.array(keys, np.int64), np.array(scores, np.float32), k)
    expected = sorted(
        zip(keys, np.array(scores, np.float32).tolist(), strict=True), key=lambda pair: (-pair[1], pair[0])
    )
    assert list(zip(found.tolist(), values.tolist(), strict=True)) == expected[:k]
