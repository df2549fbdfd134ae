"""Equal rows, found once: equal items then get equal scores, and are scored once."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["distinct_rows"]


def distinct_rows(rows: Iterable[NDArray[Any]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Finds rows that are equal.

    Args:
        rows: N arrays of one type, whose shapes may differ in the first dimension: an array (N, …), or `ItemSets`; 0.0
            and −0.0 are equal.

    Returns:
        Positions of the first of each group of equal rows, in order, and (N,) each row's group.
    """
    groups: dict[bytes, int] = {}
    first: list[int] = []
    copies: list[int] = []
    for position, row in enumerate(rows):
        content = (row + row.dtype.type(0)).tobytes()  # -0.0 becomes 0.0
        # A digest of 512 bits stands for the row, since to keep all rows' bytes would copy them.
        group = groups.setdefault(blake2b(content).digest(), len(first))
        if group == len(first):
            first.append(position)
        copies.append(group)
    return np.asarray(first, np.int64), np.asarray(copies, np.int64)
