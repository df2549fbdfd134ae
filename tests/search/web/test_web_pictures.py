"""Pictures to and from the page: uploads, and the index's own photos."""

from __future__ import annotations

import io
import itertools
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from vse_zoo.search import Index

starlette = pytest.importorskip("starlette.testclient", reason="pip install 'vse-zoo[serve]'")
from vse_zoo.search.web import create_app, guard, pictures  # noqa: E402


def jpeg(side: int = 40) -> bytes:
    stream = io.BytesIO()
    Image.new("RGB", (side, side), (200, 30, 30)).save(stream, "JPEG")
    return stream.getvalue()


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


def test_a_photo_of_an_iphone_is_searched_by(client: Any) -> None:
    heif = pytest.importorskip("pillow_heif", reason="pip install 'vse-zoo[search]'")
    stream = io.BytesIO()
    heif.from_pillow(Image.new("RGB", (40, 40), (200, 30, 30))).save(stream)
    answer = client.post("/api/search?k=2", files={"picture": ("IMG_1.HEIC", stream.getvalue())})
    assert (answer.status_code, len(answer.json()["results"])) == (200, 2)


@pytest.mark.usefixtures("without_heif")
def test_a_photo_of_an_iphone_names_the_package_that_is_missing(client: Any) -> None:
    answer = client.post("/api/search", files={"picture": b"\0\0\0\x18ftypheic\0\0\0\0"})
    assert (answer.status_code, "pip install pillow-heif" in answer.json()["detail"]) == (400, True), answer.text


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


def test_photos_are_small_upright_and_say_no_place(client: Any, folder: Path, first: int) -> None:
    for what, side in (("thumbnail", 360), ("photo", 900)):
        answer = client.get(f"/api/{what}/{first}")
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
