"""Small indexes of real models over photos of noise, and clients that ask their pages."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
from PIL import Image

from vse_zoo import presets
from vse_zoo.features import Backbone, backbones
from vse_zoo.models import ContextAttentionVSE, TransportVSE
from vse_zoo.preprocessing import TextPreprocessor
from vse_zoo.search import Index
from vse_zoo.workflow.index import index_photos

WORDS = {"en": ["a", "red", "dog", "hand"], "de": ["ein", "roter", "hund", "hand"]}
PHOTOS = 8


@cache
def colours() -> Backbone:
    """A square of 12 pixels to the mean colour of each of 2×3 cells."""
    pixels = keras.Input((12, 12, 3))
    network = keras.Model(pixels, keras.layers.AveragePooling2D((6, 4))(pixels))
    return Backbone("colours", network, lambda pixels: pixels / 128 - 1, image_size=12, grid=(2, 3))


def small_model(kind: str) -> Any:
    if kind == "attention":
        return ContextAttentionVSE(TextPreprocessor(WORDS), 3, units=8, heads=2, word_dim=5)
    return TransportVSE(TextPreprocessor(WORDS), 3, units=8, word_dim=5, transport_weight=0.4, reduction=kind)


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Photos of noise, on their side and with a place in their EXIF, and a copy."""
    folder, random = tmp_path_factory.mktemp("photos"), np.random.default_rng(0)
    for number in range(PHOTOS):
        noise = Image.fromarray(random.integers(0, 256, (2, 3, 3)).astype("uint8")).resize((900, 600))
        exif = Image.Exif()
        exif[0x0112], exif[0x010F] = 6, "SECRET"
        noise.save(folder / f"{number}.jpg", exif=exif)
    (folder / "copy.jpg").write_bytes((folder / "0.jpg").read_bytes())
    return folder


@pytest.fixture(scope="session")
def indexed(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Index]]:
    """Opens the index of the photos by a kind of model: "attention", or the reduction of the transport model."""

    def opened(kind: str) -> Index:
        keras.utils.set_random_seed(1)
        model, out = small_model(kind), tmp_path_factory.mktemp("web")
        model.build()
        presets.save(model, out / "preset", {"dataset": {"backbone": "colours", "grid": [2, 3]}})
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(backbones, "get", lambda name, grid: colours())
            index_photos(folder, out / "index", str(out / "preset"))
            index = indexes.enter_context(Index.open(out / "index"))
            assert index.encoder.pictures.backbone is colours()  # which it keeps
        return index

    with ExitStack() as indexes:
        yield cache(opened)


@pytest.fixture
def index(request: pytest.FixtureRequest, indexed: Callable[[str], Index]) -> Index:
    """That of the attention model, where no kind is named."""
    return indexed(getattr(request, "param", "attention"))


@pytest.fixture
def client(index: Index) -> Iterator[Any]:
    """Asks a page of its own."""
    starlette = pytest.importorskip("starlette.testclient", reason="pip install 'vse-zoo[serve]'")
    from vse_zoo.search.web import create_app

    with starlette.TestClient(create_app(index), "http://localhost:8000") as client:
        yield client


@pytest.fixture
def first(client: Any) -> int:
    """The id of the best photo."""
    return int(client.get("/api/search", params={"q": "a red dog"}).json()["results"][0]["id"])


@contextmanager
def served(index: Index) -> Iterator[str]:
    uvicorn = pytest.importorskip("uvicorn", reason="pip install 'vse-zoo[serve]'")
    from vse_zoo.search.web import create_app

    with socket.create_server(("127.0.0.1", 0)) as listener:
        app = create_app(index)
        app.state.service.warm_up()
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
        finally:
            server.should_exit = True
            thread.join()


@pytest.fixture(scope="session")
def serve() -> Callable[[Index], AbstractContextManager[str]]:
    """Serves an index's page by a thread, at the address that it gives."""
    return served
