"""An index run that is killed: the next one completes it, and repeats the last batch at most."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from vse_zoo.search import IndexSettings, LocalBackend, update_index
from vse_zoo.search.catalogue import Catalogue

BATCH, PHOTOS = 3, 40


class Slow:
    """Writes down what it is given, before and while it takes its time."""

    def __init__(self, encoder: Any, log: Path, seconds: float) -> None:
        self._encoder, self._log, self._seconds = encoder, log, seconds

    def encode(self, pixels: NDArray[np.uint8]) -> NDArray[np.float32]:
        with self._log.open("a") as file:
            for picture in pixels:
                file.write(f"{picture[0, 0].tolist()}\n")
        time.sleep(self._seconds)
        return self._encoder.encode(pixels)


@pytest.fixture
def many(photos: Path, paint: Callable[..., Path]) -> Path:
    for path in photos.iterdir():
        path.unlink()
    for number in range(PHOTOS):
        paint(photos / f"{number:02}.png", (number * 6, 255 - number, 100))
    return photos


def contents(index: Path) -> dict[str, list[float]]:
    """Every photo's vector."""
    listed = Catalogue(index / "catalogue.sqlite").photos()
    backend = LocalBackend(index / "vectors", (3,))
    return {path: backend.vectors(np.array([key]))[0].tolist() for path, key in listed}


def killed_after(log: Path, lines: int, work: Callable[[], object]) -> None:
    """Forks, works there, and sends SIGKILL once the log has so many lines."""
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(0)
    deadline = time.monotonic() + 60
    while not log.is_file() or log.read_text().count("\n") < lines:
        assert time.monotonic() < deadline
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status)


@pytest.mark.parametrize("lines", [1, 10, 20])
def test_kill_9_costs_the_last_batch(
    many: Path, settings: IndexSettings, encoder: Any, tmp_path: Path, lines: int
) -> None:
    index, log = tmp_path / "index", tmp_path / "log"
    killed_after(log, lines, lambda: update_index(index, settings, lambda: Slow(encoder, log, 0.05), BATCH))
    assert 0 < log.read_text().count("\n") < PHOTOS
    done = update_index(index, settings, lambda: Slow(encoder, log, 0), BATCH)
    assert (done.photos, done.contents, done.unreadable) == (PHOTOS, PHOTOS, {})
    times = Counter(log.read_text().splitlines())
    assert len(times) == PHOTOS
    assert sum(times.values()) <= PHOTOS + BATCH
    update_index(tmp_path / "whole", settings, lambda: encoder, BATCH)
    assert contents(index) == contents(tmp_path / "whole")
    assert len(LocalBackend(index / "vectors", (3,))) == PHOTOS


@pytest.mark.parametrize("step", ["Catalogue.add_content", "Catalogue.put_file", "RowFile._set_keys", "RowFile._write"])
@pytest.mark.parametrize("call", [1, 4])
def test_whichever_step_fails_the_next_run_completes_the_index(
    many: Path, settings: IndexSettings, encoder: Any, tmp_path: Path, step: str, call: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    owner, name = step.split(".")
    module = {"Catalogue": "catalogue", "RowFile": "rows"}[owner]
    target = f"vse_zoo.search.{module}.{owner}.{name}"
    original = getattr(getattr(__import__(f"vse_zoo.search.{module}", fromlist=[owner]), owner), name)
    calls: list[int] = []

    def failing(*arguments: Any) -> Any:
        calls.append(1)
        if len(calls) == call:
            raise OSError(28, "No space left on device")
        return original(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(target, staticmethod(failing) if name == "_write" else failing)
        with pytest.raises(OSError, match="No space"):
            update_index(tmp_path / "index", settings, lambda: encoder, BATCH)
    (many / "00.png").unlink()  # what was written last need not come again
    done = update_index(tmp_path / "index", settings, lambda: encoder, BATCH)
    assert (done.photos, done.unreadable) == (PHOTOS - 1, {})
    update_index(tmp_path / "whole", settings, lambda: encoder, BATCH)
    assert contents(tmp_path / "index") == contents(tmp_path / "whole")
