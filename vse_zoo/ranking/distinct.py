"""Equal rows, found once: equal items then get equal scores, and are scored once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["distinct_rows"]


def distinct_rows(*arrays: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Finds rows that are equal in all arrays.

    Args:
        arrays: (N, …) numbers or bools; 0.0 and −0.0 are equal.

    Returns:
        Positions of the first of each group of equal rows, in order, and (N,) each row's group.
    """
    groups: dict[bytes, int] = {}
    first: list[int] = []
    copies = np.empty(len(arrays[0]), np.int64)
    for position, rows in enumerate(zip(*arrays, strict=True)):
        content = b"".join((row + row.dtype.type(0)).tobytes() for row in rows)  # -0.0 becomes 0.0
        group = groups.setdefault(content, len(first))
        if group == len(first):
            first.append(position)
        copies[position] = group
    return np.asarray(first), copies
