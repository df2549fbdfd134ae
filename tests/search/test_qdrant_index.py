"""Indexes whose vectors are in Qdrant's local engine: made, updated, moved, killed; the commands' option."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from typer.testing import CliRunner

from vse_zoo.cli import app
from vse_zoo.errors import ConfigError, DataError
from vse_zoo.search import Index, IndexSettings, LocalBackend, QdrantBackend, Update, update_index
from vse_zoo.search import qdrant as qdrant_module
from vse_zoo.search.backends import open_backend
from vse_zoo.search.catalogue import Catalogue
from vse_zoo.search.settings import QdrantPlace, preset_fingerprint
from vse_zoo.workflow import index as workflow

pytest.importorskip("qdrant_client")


@pytest.fixture
def inside(settings: IndexSettings) -> IndexSettings:
    """Settings of an index with Qdrant in its folder."""
    return settings.model_copy(update={"qdrant": QdrantPlace(collection="photos")})


def names(index: Path, settings: IndexSettings, colour: tuple[int, ...], k: int = 1) -> list[list[str]]:
    """The files of the best contents for a colour."""
    query = (np.array(colour) / np.linalg.norm(colour)).astype(np.float32)
    backend = open_backend(index, settings)
    keys, _ = backend.search(query, k)
    backend.close()
    files = Catalogue(index / "catalogue.sqlite").files_of(keys.tolist())
    return [files[key] for key in keys.tolist()]


def test_an_index_in_qdrant_follows_its_photos(
    inside: IndexSettings, encoder: Any, photos: Path, tmp_path: Path, paint: Callable[..., Path]
) -> None:
    index = tmp_path / "index"
    assert update_index(index, inside, lambda: encoder) == Update(5, 5, 0, 0, 5, 5, {})
    assert json.loads((index / "index.json").read_text())["qdrant"] == {"collection": "photos", "exact_up_to": 100_000}
    paint(photos / "new.png", (250, 250, 5))
    paint(photos / "red.png", (5, 250, 250))
    (photos / "blue.png").unlink()
    encoder.seen.clear()
    assert update_index(index, IndexSettings.read(index), lambda: encoder) == Update(2, 1, 1, 1, 5, 5, {})
    assert len(encoder.seen) == 2
    assert names(index, inside, (250, 250, 5)) == [["new.png"]]
    assert names(index, inside, (5, 250, 250)) == [["red.png"]]
    assert sorted(name for (name,) in names(index, inside, (5, 5, 250), 100)) == [
        "green.png", "grey.png", "new.png", "pink.png", "red.png"
    ]  # fmt: skip


def test_vectors_that_move_to_qdrant_and_another_preset_make_the_index_anew(
    settings: IndexSettings, inside: IndexSettings, encoder: Any, colours: Any, tmp_path: Path
) -> None:
    index, other = tmp_path / "index", inside.model_copy(update={"fingerprint": "2", "shape": (3,)})
    for each in (settings, inside, other, settings):
        encoder.seen.clear()
        update_index(index, each, lambda: encoder)
        assert len(encoder.seen) == 5
        assert names(index, each, colours["red"]) == [["red.png"]]
        assert IndexSettings.read(index) == each


def test_a_collection_that_was_lost_is_an_error_and_no_empty_index(
    inside: IndexSettings, encoder: Any, tmp_path: Path
) -> None:
    index = tmp_path / "index"
    update_index(index, inside, lambda: encoder)
    backend = QdrantBackend(index / "vectors", "photos", (3,))
    backend._client.delete_collection("photos")
    backend.close()
    with pytest.raises(DataError, match="found no collection photos"):
        update_index(index, inside, lambda: encoder)


def test_without_qdrant_client_it_says_what_to_install(
    inside: IndexSettings, settings: IndexSettings, tmp_path: Path, encoder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    update_index(tmp_path / "index", settings, lambda: encoder)
    monkeypatch.setattr(qdrant_module, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"pip install 'vse-zoo\[qdrant\]'"):
        update_index(tmp_path / "index", inside, lambda: encoder)
    assert IndexSettings.read(tmp_path / "index") == settings
    assert len(LocalBackend(tmp_path / "index" / "vectors", (3,))) == 5


class Slow:
    """Counts batches in a file, and takes its time."""

    def __init__(self, encoder: Any, log: Path) -> None:
        self._encoder, self._log = encoder, log

    def encode(self, pixels: NDArray[np.uint8]) -> NDArray[np.float32]:
        with self._log.open("a") as file:
            file.write("x" * len(pixels))
        time.sleep(0.05)
        return self._encoder.encode(pixels)


def test_kill_9_costs_the_last_batch(
    inside: IndexSettings, encoder: Any, photos: Path, tmp_path: Path, paint: Callable[..., Path]
) -> None:
    for number in range(15):
        paint(photos / f"{number}.png", (number * 12, 9, 200))
    index, log = tmp_path / "index", tmp_path / "log"
    log.touch()
    child = os.fork()
    if child == 0:
        try:
            update_index(index, inside, lambda: Slow(encoder, log), 3)
        finally:
            os._exit(0)
    while log.stat().st_size < 9:
        time.sleep(0.005)
    os.kill(child, signal.SIGKILL)
    assert os.WIFSIGNALED(os.waitpid(child, 0)[1])
    done = update_index(index, inside, lambda: Slow(encoder, log), 3)
    assert (done.photos, done.unreadable) == (20, {})
    assert log.stat().st_size <= 20 + 3
    backend = open_backend(index, inside)
    assert len(backend) == 20
    backend.close()
    for number in (0, 7, 14):
        assert names(index, inside, (number * 12, 9, 200)) == [[f"{number}.png"]]


def test_the_command_keeps_vectors_where_it_is_told_and_where_they_are(
    settings: IndexSettings, encoder: Any, photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    preset, index = Path(settings.preset_folder), tmp_path / "index"
    preset.mkdir()
    (preset / "config.json").write_text("{}")
    update_index(index, settings.model_copy(update={"fingerprint": preset_fingerprint(preset)}), lambda: encoder)
    monkeypatch.setattr(workflow, "_encoder", lambda preset: encoder)

    def indexed(*options: str) -> str:
        printed = CliRunner().invoke(app, ["index", str(photos), "--out", str(index), *options])
        if printed.exception:
            raise printed.exception
        return printed.output

    assert "5 photos: 5 new" in indexed("--qdrant", "local")
    kept = json.loads((index / "index.json").read_text())["qdrant"]
    assert kept["collection"].startswith("vse_zoo_")
    for options in ((), ("--qdrant", "local")):
        assert "5 photos: 0 new" in indexed(*options)
        assert json.loads((index / "index.json").read_text())["qdrant"] == kept
    with Index.open(index) as opened:
        assert isinstance(opened.backend, QdrantBackend)
        assert len(opened.backend.search(np.ones(3, np.float32), 9)[0]) == 5
        with pytest.raises(DataError, match="another process has it open"):
            indexed()
    with pytest.raises(ConfigError, match="found 'server', expected 'local'"):
        indexed("--qdrant", "server")
