"""What the page and its JSON API refuse, and how; what every answer carries."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest
from typer.testing import CliRunner

from vse_zoo import cli
from vse_zoo.errors import ConfigError
from vse_zoo.search import Index

starlette = pytest.importorskip("starlette.testclient", reason="pip install 'vse-zoo[serve]'")
from vse_zoo.search.web import create_app  # noqa: E402


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


def test_every_answer_has_the_security_headers(client: Any, first: int) -> None:
    pages = ("/", "/static/page.css", "/nothing")
    for address in (*pages, "/api/index", "/api/search", f"/api/thumbnail/{first}"):
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


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, index: Index) -> None:
    from vse_zoo.search.web import serve_index

    with pytest.raises(ConfigError, match=r"can't listen at 192\.0\.2\.1, port 80"):
        serve_index(index.folder, "192.0.2.1", 80, print)
    monkeypatch.setattr(import_module("vse_zoo.cli.search"), "find_spec", lambda name: None)
    outcome = CliRunner().invoke(cli.app, ["serve", str(index.folder)])
    assert "pip install 'vse-zoo[serve]'" in str(outcome.exception)


def test_the_methods_of_an_address_are_named(client: Any) -> None:
    for address, allowed in (("search", "GET, POST"), ("index", "GET"), ("openapi.json", "GET"), ("photo/1", "GET")):
        answer = client.delete(f"/api/{address}")
        assert answer.status_code == 405
        assert allowed in answer.headers["allow"], address
        assert isinstance(answer.json()["detail"], str)
