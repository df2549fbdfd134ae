"""What is said to a Qdrant server, and what is made of its answers.

The server is a stand-in: it speaks the part of Qdrant's REST interface that is used, and answers by the client's engine
in memory. It shows what goes over the wire, not how a real server searches.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from vse_zoo.errors import DataError
from vse_zoo.search import IndexSettings, LocalBackend, QdrantBackend, update_index
from vse_zoo.search import qdrant as qdrant_module
from vse_zoo.search.backends import open_backend
from vse_zoo.search.settings import QdrantPlace

qdrant_client = pytest.importorskip("qdrant_client")
models = pytest.importorskip("qdrant_client.models")


class Server(ThreadingHTTPServer):
    """Remembers requests: method, path, headers, body. ``failure``: the status that it answers instead."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.engine = qdrant_client.QdrantClient(":memory:")
        self.asked: list[tuple[str, str, Any, Any]] = []
        self.failure: int | None = None
        self.lock = threading.Lock()
        self.url = f"http://127.0.0.1:{self.server_port}"

    def bodies(self, path: str) -> list[Any]:
        return [body for _, each, _, body in self.asked if each.endswith(path)]


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length)) if length else None
        self.server.asked.append((self.command, self.path, dict(self.headers), body))
        with self.server.lock:
            status, result = (self.server.failure, None) if self.server.failure else answer(self, body)
        content = json.dumps({"result": result, "status": "ok" if status == 200 else {"error": "no"}, "time": 0.1})
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Retry-After", "7")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content.encode())

    do_PUT = do_POST = do_DELETE = do_GET  # noqa: N815

    def log_message(self, *arguments: Any) -> None:
        pass


def answer(request: Handler, body: Any) -> tuple[int, Any]:
    engine, path = request.server.engine, request.path.split("?")[0]
    found = re.fullmatch(r"/collections(?:/(\w+)(/.*)?)?", path)
    assert found, path
    name, rest = found.groups()
    if name is None:
        return 200, {"collections": []}
    match request.command, rest:
        case "GET", "/exists":
            return 200, {"exists": engine.collection_exists(name)}
        case "PUT", None:
            return 200, engine.create_collection(name, models.VectorParams(**body["vectors"]))
        case "DELETE", None:
            return 200, engine.delete_collection(name)
        case "GET", None:
            return 200, engine.get_collection(name).model_dump(mode="json")
        case "PUT", "/points":
            engine.upsert(name, [models.PointStruct(**point) for point in body["points"]])
        case "POST", "/points/delete":
            engine.delete(name, body["points"])
        case "POST", "/points/count":
            return 200, engine.count(name).model_dump()
        case "POST", "/points":
            points = engine.retrieve(name, body["ids"], with_vectors=body["with_vector"])
            return 200, [point.model_dump(mode="json") for point in points]
        case "POST", "/points/query":
            points = engine.query_points(name, query=body["query"]["nearest"], limit=body["limit"]).points
            return 200, {"points": [point.model_dump(mode="json") for point in points]}
        case _:
            raise AssertionError((request.command, path))
    return 200, {"operation_id": 1, "status": "completed"}


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("shape", [(6,), (3, 6)])
def test_a_server_gives_what_files_give(
    server: Server, tmp_path: Path, shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(qdrant_module, "_NUMBERS", 100)  # several requests each
    monkeypatch.setattr(qdrant_module, "_IDS", 5)
    random = np.random.default_rng(0)
    remote, files = QdrantBackend(server.url, "photos", shape), LocalBackend(tmp_path, shape)
    for backend in (remote, files):
        random = np.random.default_rng(0)
        backend.add(np.arange(1, 61), random.integers(-3, 4, (60, *shape)).astype(np.float32) / 4)
        backend.add(np.arange(7, 11), random.integers(-3, 4, (4, *shape)).astype(np.float32) / 4)
        backend.remove([*range(20, 32), 999])
    assert len(remote) == len(files) == 48
    keys = np.array([60, 7, 1, 32])
    assert np.array_equal(remote.vectors(keys), files.vectors(keys))
    for k in (1, 5, 100):
        query = random.integers(-3, 4, (6,) if len(shape) == 1 else (4, 6)).astype(np.float32) / 4
        for own, other in zip(remote.search(query, k), files.search(query, k), strict=True):
            assert own.tolist() == other.tolist()
    with pytest.raises(KeyError):
        remote.vectors(np.array([20]))
    remote.close()
    assert all(body["points"] for body in server.bodies("/points?wait=true"))
    assert len(server.bodies("/points?wait=true")) > 4
    assert [len(body["points"]) for body in server.bodies("/points/delete?wait=true")] == [5, 5, 3]
    made = next(body for method, _, _, body in server.asked if method == "PUT")["vectors"]
    assert (made["size"], made["distance"]) == (6, "Dot")
    assert made.get("multivector_config") == (None if len(shape) == 1 else {"comparator": "max_sim"})
    assert (made.get("hnsw_config") or {}).get("m") == (None if len(shape) == 1 else 0)


def test_few_keys_are_compared_one_by_one_and_many_by_the_servers_graph(server: Server) -> None:
    backend = QdrantBackend(server.url, "photos", (2,), exact_up_to=10)
    vectors = np.eye(2, dtype=np.float32)[np.arange(11) % 2]
    for count, exact in ((10, True), (11, False)):
        backend.add(np.arange(1, count + 1), vectors[:count])
        backend.search(vectors[0], 3)
        params = server.bodies("/points/query")[-1]["params"]
        assert (params["exact"], params["quantization"]["rescore"]) == (exact, True)
    backend.close()


def test_the_key_comes_from_the_environment_and_is_kept_nowhere(
    server: Server, settings: IndexSettings, encoder: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QDRANT_API_KEY", "s3cret")
    remote = settings.model_copy(update={"qdrant": QdrantPlace(url=server.url, collection="photos")})
    with pytest.warns(UserWarning, match="insecure connection"):
        update_index(tmp_path / "index", remote, lambda: encoder)
    assert {
        {name.lower(): value for name, value in headers.items()}["api-key"] for _, _, headers, _ in server.asked
    } == {"s3cret"}
    assert not any(b"s3cret" in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


def test_an_index_on_a_server_is_made_kept_and_dropped(
    server: Server, settings: IndexSettings, encoder: Any, colours: Any, tmp_path: Path
) -> None:
    index, remote = (
        tmp_path / "index",
        settings.model_copy(update={"qdrant": QdrantPlace(url=server.url, collection="a")}),
    )
    update_index(index, remote, lambda: encoder)
    assert update_index(index, IndexSettings.read(index), lambda: encoder).encoded == 0
    backend = open_backend(index, remote)
    query = (np.array(colours["red"]) / np.linalg.norm(colours["red"])).astype(np.float32)
    assert backend.search(query, 1)[1] == pytest.approx(1)
    backend.close()
    assert update_index(index, remote.model_copy(update={"fingerprint": "2"}), lambda: encoder).encoded == 5
    assert server.engine.count("a").count == 5
    assert update_index(index, settings, lambda: encoder).encoded == 5
    assert not server.engine.collection_exists("a")


def test_an_index_is_not_dropped_for_a_server_that_does_not_answer(
    settings: IndexSettings, encoder: Any, tmp_path: Path
) -> None:
    index = tmp_path / "index"
    update_index(index, settings, lambda: encoder)
    nowhere = settings.model_copy(update={"qdrant": QdrantPlace(url="http://127.0.0.1:9", collection="a")})
    with pytest.raises(DataError, match=r"127.0.0.1:9: can't be reached \(.*Connection refused.*Start the server"):
        update_index(index, nowhere, lambda: encoder)
    assert update_index(index, settings, lambda: encoder).encoded == 0


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (401, r"answered 401 .* Put the server's key into the environment variable QDRANT_API_KEY"),
        (403, "answered 403 .* Put the server's key"),
        (429, r"is overloaded \(no\)"),
        (500, r"answered 500 \(.*no"),
    ],
)
def test_what_a_server_answers_is_said(server: Server, status: int, message: str) -> None:
    backend = QdrantBackend(server.url, "photos", (2,))
    server.failure = status
    for step in (
        lambda: QdrantBackend(server.url, "photos", (2,)),
        lambda: backend.add(np.array([1]), np.ones((1, 2), np.float32)),
        lambda: backend.search(np.ones(2, np.float32), 1),
        lambda: qdrant_module.check_place(server.url),
    ):
        with pytest.raises(DataError, match=message):
            step()
    backend.close()
