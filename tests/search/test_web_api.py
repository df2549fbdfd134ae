"""The page's JSON API over small indexes of real models: answers, explanations, and what it refuses."""

from __future__ import annotations

import io
import itertools
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import keras
import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from vse_zoo import cli, presets, search_cli
from vse_zoo.errors import ConfigError
from vse_zoo.models import ContextAttentionVSE, TransportVSE
from vse_zoo.preprocessing import TextPreprocessor
from vse_zoo.search import Calibration, Index
from vse_zoo.search import encoding as encoding_module
from vse_zoo.search.calibration import LENGTHS, Curve
from vse_zoo.workflow.index import index_photos

starlette = pytest.importorskip("starlette.testclient", reason="pip install 'vse-zoo[serve]'")
from vse_zoo.search.web import create_app, guard, pictures  # noqa: E402

WORDS = {"en": ["a", "red", "dog", "hand"], "de": ["ein", "roter", "hund", "hand"]}
GRID = 2, 3
PHOTOS = 8


def colours(pixels: np.ndarray) -> np.ndarray:
    """(B, 12, 12, 3) pixels to the mean colour of each of 2×3 cells."""
    return (pixels.reshape(-1, 2, 6, 3, 4, 3).mean(axis=(2, 4)).reshape(-1, 6, 3) / 128 - 1).astype(np.float32)


BACKBONE = SimpleNamespace(image_size=12, grid=GRID, regions=colours, name="colours")


def attention() -> Any:
    return ContextAttentionVSE(TextPreprocessor(WORDS), 3, units=8, heads=2, word_dim=5)


def transport(reduction: str) -> Any:
    return TransportVSE(TextPreprocessor(WORDS), 3, units=8, word_dim=5, transport_weight=0.4, reduction=reduction)


every_kind = pytest.mark.parametrize("index", ["sum", "mean", "attention"], indirect=True)
MODELS = {"attention": attention, "sum": lambda: transport("sum"), "mean": lambda: transport("mean")}


@pytest.fixture(scope="module", autouse=True)
def backbone() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoding_module.backbones, "get", lambda name, grid: BACKBONE)
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Photos of noise, one of them on its side and with a place in its EXIF, and a copy."""
    folder, random = tmp_path_factory.mktemp("photos"), np.random.default_rng(0)
    for number in range(PHOTOS):
        noise = Image.fromarray(random.integers(0, 256, (2, 3, 3)).astype("uint8")).resize((900, 600))
        exif = Image.Exif()
        exif[0x0112], exif[0x010F] = 6, "SECRET"
        noise.save(folder / f"{number}.jpg", exif=exif)
    (folder / "copy.jpg").write_bytes((folder / "0.jpg").read_bytes())
    return folder


@pytest.fixture(scope="module")
def index(request: pytest.FixtureRequest, folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    kind = getattr(request, "param", "attention")
    keras.utils.set_random_seed(1)
    model = MODELS[kind]()
    model.build()
    out = tmp_path_factory.mktemp("web")
    presets.save(model, out / "preset", {"dataset": {"backbone": "colours", "grid": list(GRID)}})
    index_photos(folder, out / "index", str(out / "preset"))
    with Index.open(out / "index") as opened:
        opened.kind = kind  # type: ignore[attr-defined]
        yield opened


@pytest.fixture
def client(index: Index) -> Iterator[Any]:
    with starlette.TestClient(create_app(index), "http://localhost:8000") as client:
        yield client


def jpeg(side: int = 40) -> bytes:
    stream = io.BytesIO()
    Image.new("RGB", (side, side), (200, 30, 30)).save(stream, "JPEG")
    return stream.getvalue()


def first(client: Any) -> int:
    return client.get("/api/search", params={"q": "a red dog"}).json()["results"][0]["id"]


@every_kind
def test_a_sentence_is_answered_as_by_the_index(client: Any, index: Index) -> None:
    answer = client.get("/api/search", params={"q": "roter Hund zebra", "k": 3}).json()
    expected = index.search_text("roter Hund zebra", k=3)
    assert (answer["language"], answer["unknown_words"], answer["photos"]) == ("de", ["zebra"], PHOTOS)
    assert [each["id"] for each in answer["results"]] == [each.key for each in expected.results]
    assert [each["path"] for each in answer["results"]] == [each.path.name for each in expected.results]
    np.testing.assert_allclose([r["score"] for r in answer["results"]], [r.score for r in expected.results], atol=1e-5)
    assert client.get("/api/search", params={"q": "hand", "language": "de"}).json()["language"] == "de"
    assert client.get("/api/search", params={"q": "zebra"}).json()["results"] == []
    summary = client.get("/api/index").json()
    assert summary["languages"] == [{"code": "en", "name": "English"}, {"code": "de", "name": "German"}]
    assert (summary["photos"], summary["calibrated"], summary["explains"]) == (PHOTOS, False, True)


def test_weak_results_are_marked_or_left_out(client: Any, index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    scores = [each.score for each in index.search_text("a red dog", k=PHOTOS).results]
    levels = np.sort(index.encoder.levels(np.array(scores), np.zeros((3, 8))))
    curve = Curve(levels[[0, -1]], np.array([0.0, 1.0]))
    found = Calibration("dev", 10, 10, {"en": dict.fromkeys(LENGTHS, curve)}, {})
    monkeypatch.setattr(index, "calibration", found, raising=False)
    results = client.get("/api/search", params={"q": "a red dog"}).json()["results"]
    assert results[0]["confidence"] == pytest.approx(1, abs=1e-3)
    assert results[-1]["weak"]
    assert not results[0]["weak"]
    strong = client.get("/api/search", params={"q": "a red dog", "min_confidence": 0.5}).json()["results"]
    assert strong == [each for each in results if each["confidence"] >= 0.5]


def test_an_uploaded_photo_finds_itself(client: Any, folder: Path) -> None:
    answer = client.post("/api/search?k=2", files={"picture": ("a b.jpg", (folder / "0.jpg").read_bytes())}).json()
    assert (answer["query"], answer["language"], len(answer["results"])) == (None, None, 2)
    assert (answer["results"][0]["path"], answer["results"][0]["copies"]) == ("0.jpg", ["copy.jpg"])
    assert answer["results"][0]["confidence"] is None


@pytest.mark.parametrize(
    ("content", "status", "said"),
    [
        (jpeg(400)[:900], 400, "can't be decoded"),
        (b"", 400, "can't be read as a picture"),
        (b"no picture", 400, "JPEG, PNG"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", 400, "can't be read"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", 400, "can't be read"),
        (bytes(guard.MAX_BODY + 1), 413, "at most 20 MB"),
    ],
    ids=["truncated", "empty", "text", "PostScript", "SVG", "large"],
)
def test_what_is_no_picture_is_refused(client: Any, content: bytes, status: int, said: str) -> None:
    answer = client.post("/api/search", files={"picture": content})
    assert (answer.status_code, said in answer.json()["detail"]) == (status, True), answer.text


def test_a_body_without_length_is_cut_off(client: Any) -> None:
    sent = itertools.count()

    def body() -> Iterator[bytes]:
        yield b'--x\r\nContent-Disposition: form-data; name="picture"; filename="p"\r\n\r\n'
        for _ in range(100):
            next(sent)
            yield bytes(2**20)

    headers = {"Content-Type": "multipart/form-data; boundary=x"}
    assert client.post("/api/search", content=body(), headers=headers).status_code == 413
    for wrong in ({"Content-Type": "multipart/form-data"}, {"Content-Type": "application/json"}):
        assert client.post("/api/search", content=b"{}", headers=wrong).status_code in (400, 422)
    assert client.post("/api/search", files={"other": b"x"}).status_code == 422
    assert client.post("/api/search", data={"picture": "text"}).status_code == 422


def test_a_picture_of_too_many_pixels_isn_t_decoded(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "MAX_PIXELS", 1000)
    answer = client.post("/api/search", files={"picture": jpeg(40)})
    assert answer.status_code == 400
    assert "pixels" in answer.json()["detail"]


@every_kind
@pytest.mark.parametrize("query", ["a red dog", "Ein  ROTER Hund, zebra!"])
def test_words_over_regions_add_up_to_the_score(client: Any, index: Index, query: str) -> None:
    for result in index.search_text(query, k=3).results:
        found = client.get("/api/explain", params={"photo": result.key, "q": query}).json()
        assert found["grid"] == list(GRID)
        assert [word["text"] for word in found["words"]] == query.replace(",", "").strip("!").split()
        assert [word["known"] for word in found["words"]] == [word["text"] != "zebra" for word in found["words"]]
        weights = np.array([word["weights"] for word in found["words"]])
        assert weights.shape == (len(found["words"]), 6)
        assert weights.min() >= 0
        sums = weights.sum(axis=1)
        assert np.minimum(abs(sums - 1), abs(sums)).max() < 1e-4
        assert sum(word["part"] for word in found["words"]) == pytest.approx(result.score, abs=1e-4)
        assert found["score"] == pytest.approx(result.score, abs=1e-4)
        assert len(found["heads"]) == (2 if index.kind == "attention" else 0)  # type: ignore[attr-defined]
        for head in found["heads"]:
            assert sum(head["regions"]) == pytest.approx(1, abs=1e-4)
            assert sum(head["words"]) == pytest.approx(1, abs=1e-4)


def test_photos_are_small_upright_and_say_no_place(client: Any, folder: Path) -> None:
    key = first(client)
    for what, side in (("thumbnail", 360), ("photo", 900)):
        answer = client.get(f"/api/{what}/{key}")
        assert (answer.status_code, answer.headers["content-type"]) == (200, "image/jpeg")
        assert Image.open(io.BytesIO(answer.content)).size == (side * 2 // 3, side)
        assert b"SECRET" not in answer.content
        assert b"SECRET" in (folder / "0.jpg").read_bytes()


def test_a_photo_that_went_or_became_something_else_is_gone(client: Any, folder: Path, tmp_path: Path) -> None:
    answer = client.post("/api/search?k=1", files={"picture": (folder / "5.jpg").read_bytes()}).json()
    key, photo = answer["results"][0]["id"], folder / answer["results"][0]["path"]
    moved = photo.rename(tmp_path / "moved.jpg")
    try:
        assert client.get(f"/api/photo/{key}").status_code == 410
        photo.symlink_to("/etc/passwd")
        assert client.get(f"/api/photo/{key}").status_code == 410
        photo.unlink()
        photo.symlink_to("/dev/zero")
        answer = client.get("/api/explain", params={"photo": key, "q": "dog"})
        assert answer.status_code == 410
        assert "Index the photos again" in answer.json()["detail"]
    finally:
        photo.unlink(missing_ok=True)
        moved.rename(photo)
    assert client.get(f"/api/photo/{key}").status_code == 200


@pytest.mark.parametrize("path", ["../../etc/passwd", "%2e%2e%2f%2e%2e%2fetc%2fpasswd", "..%5c..%5cx", "0.jpg", "1%00"])
def test_no_other_file_is_served(client: Any, path: str) -> None:
    for place in ("/api/photo/", "/api/thumbnail/", "/static/", "/"):
        assert client.get(place + path).status_code in (404, 422)
    assert client.get("/static/page.js").headers["content-type"].startswith("text/javascript")


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("search", 422),
        ("search?q=", 422),
        ("search?q=%20%3F", 400),
        ("search?q=%00", 400),
        ("search?q=%ff%fe", 200),
        ("search?q=%ed%a0%80dog", 200),
        ("search?q=" + "dog " * 126, 422),
        ("search?q=" + "dog%20" * 125, 200),
        ("search?q=dog&k=0", 422),
        ("search?q=dog&k=99999999999999999999999", 422),
        ("search?q=dog&k=1e400", 422),
        ("search?q=dog&min_confidence=nan", 422),
        ("search?q=dog&min_confidence=inf", 422),
        ("search?q=dog&min_confidence=0.5", 400),
        ("search?q=dog&language=fr", 400),
        ("search?q=dog&language=%00%ff", 400),
        ("search?q=dog&language=", 200),
        ("explain?q=dog", 422),
        ("explain?q=dog&photo=999999", 404),
        ("explain?q=dog&photo=9223372036854775808", 422),
        ("explain?q=%00&photo=1", 400),
        ("explain?q=dog&photo=1&language=xx", 400),
        ("photo/999999", 404),
        ("photo/0", 422),
        ("photo/-1", 422),
        ("thumbnail/9223372036854775807", 404),
        ("thumbnail/٣", 422),
        ("nothing", 404),
    ],
)
def test_bad_questions_are_refused_with_a_message(client: Any, address: str, status: int) -> None:
    answer = client.get(f"/api/{address}")
    assert answer.status_code == status, answer.text
    if status != 200:
        assert isinstance(answer.json()["detail"], str)


def test_foreign_names_and_pages_are_refused(client: Any, index: Index) -> None:
    for host in ("localhost", "LOCALHOST:9", "127.0.0.1:8000", "[::1]:8000", "192.168.0.7"):
        assert client.get("/api/index", headers={"Host": host}).status_code == 200, host
    for host in ("evil.example", "evil.example:8000", "localhost.evil.example", "127.0.0.1.evil.example", "", "[::1"):
        answer = client.get("/", headers={"Host": host})
        assert answer.status_code == (200 if host == "[::1" else 400), host
    assert client.get("/api/index", headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
    assert client.get("/", headers={"Sec-Fetch-Site": "cross-site"}).status_code == 200
    named = starlette.TestClient(create_app(index, "photos.home"), "http://photos.home")
    assert named.get("/").status_code == 200


def test_every_answer_has_the_security_headers(client: Any) -> None:
    for address in (
        "/",
        "/static/page.css",
        "/api/index",
        "/api/search",
        "/nothing",
        f"/api/thumbnail/{first(client)}",
    ):
        headers = client.get(address).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert "access-control-allow-origin" not in headers


def test_the_page_asks_nobody_else() -> None:
    from vse_zoo.search.web.app import _static_files

    for name, content in _static_files().items():
        text = content.decode().replace("http://www.w3.org/2000/svg", "")
        assert "http://" not in text, name
        assert "https://" not in text, name


def test_the_description_names_every_answer(client: Any) -> None:
    described = client.get("/api/openapi.json").json()
    assert set(described["paths"]) == {
        *("/api/index", "/api/search", "/api/explain", "/api/thumbnail/{photo}", "/api/photo/{photo}")
    }
    assert "413" in described["paths"]["/api/search"]["post"]["responses"]


def test_a_slow_picture_delays_no_search(client: Any, index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    held, begun = threading.Event(), threading.Semaphore(0)

    def slow(self: Any, key: int) -> bytes:
        begun.release()
        held.wait(20)
        raise RuntimeError("broken")

    monkeypatch.setattr(pictures.Photos, "photo", slow)
    app = create_app(index)
    with (
        starlette.TestClient(app, "http://localhost", raise_server_exceptions=False) as own,
        ThreadPoolExecutor(3) as pool,
    ):
        waiting = [pool.submit(own.get, "/api/photo/1") for _ in range(3)]
        assert begun.acquire(timeout=10)
        began = time.monotonic()
        assert own.get("/api/search", params={"q": "dog"}).status_code == 200
        assert time.monotonic() - began < 8
        app.state.service.pictures._most = 3
        full = own.get("/api/photo/1")
        assert (full.status_code, full.headers["retry-after"]) == (429, "1")
        held.set()
        assert {each.result().status_code for each in waiting} == {500}
        assert own.get("/api/index").status_code == 200


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, index: Index) -> None:
    from vse_zoo.search.web import serve_index

    with pytest.raises(ConfigError, match=r"can't listen at 192\.0\.2\.1, port 80"):
        serve_index(index.folder, "192.0.2.1", 80, print)
    monkeypatch.setattr(search_cli, "find_spec", lambda name: None)
    outcome = CliRunner().invoke(cli.app, ["serve", str(index.folder)])
    assert "pip install 'vse-zoo[serve]'" in str(outcome.exception)
