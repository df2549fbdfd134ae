"""What was used lately stays."""

from __future__ import annotations

import pytest

pytest.importorskip("starlette", reason="pip install 'vse-zoo[serve]'")
from vse_zoo.search.web.recent import Recent


def test_what_was_not_used_for_longest_goes() -> None:
    recent: Recent[int, str] = Recent(2)
    assert recent.get(1) is None
    for key, value in ((1, "a"), (2, "b")):
        recent.put(key, value)
    assert recent.get(1) == "a"
    recent.put(3, "c")
    assert [recent.get(key) for key in (1, 2, 3)] == ["a", None, "c"]
    recent.put(1, "d")
    recent.put(4, "e")
    assert [recent.get(key) for key in (1, 3, 4)] == ["d", None, "e"]
