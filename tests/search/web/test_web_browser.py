"""The page of `vse-zoo serve` in a real browser, over drawn pictures and the standard preset."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageDraw

from vse_zoo.registry import SEARCH_PRESET
from vse_zoo.search import Index
from vse_zoo.workflow.index import index_photos

pytestmark = pytest.mark.slow
COLOURS = ("red", "green", "blue", "white", "black", "orange", "gray", "pink", "brown")


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """Of pictures of balls."""
    folder = tmp_path_factory.mktemp("browser")
    (folder / "photos").mkdir()
    for number, colour in enumerate(COLOURS):
        picture = Image.new("RGB", (640, 480 + 80 * (number % 3)), "skyblue")
        draw = ImageDraw.Draw(picture)
        draw.rectangle((0, 330, 640, 640), fill="forestgreen")
        draw.ellipse((60 * number, 180, 60 * number + 140, 380), fill=colour)
        picture.save(folder / "photos" / f"{colour} <b>.jpg")
    shutil.copy(folder / "photos" / "red <b>.jpg", folder / "photos" / "zcopy.jpg")
    index_photos(folder / "photos", folder / "index", SEARCH_PRESET)
    with Index.open(folder / "index") as index:
        yield index


@pytest.fixture(scope="module")
def address(index: Index, serve: Callable[[Index], Any]) -> Iterator[str]:
    """The page's."""
    with serve(index) as address:
        yield address


@pytest.fixture(params=[1280, 390])
def tab(request: pytest.FixtureRequest, browser: Any, address: str) -> Iterator[Any]:
    """The opened page; the test fails if it logs an error or is wider than the window."""
    width = request.param
    context = browser.new_context(viewport={"width": width, "height": 844}, has_touch=width < 500)
    context.set_default_timeout(60_000)
    tab = context.new_page()
    said: list[str] = []
    tab.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    tab.on("pageerror", lambda error: said.append(str(error)))
    tab.goto(address)
    tab.locator("#size", has_text="9 photos").wait_for()
    yield tab
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    # That a refused question and a photo that is gone are logged is the browser's doing.
    assert [text for text in said if "400 (Bad Request)" not in text and "410 (Gone)" not in text] == []
    context.close()


def search(tab: Any, query: str) -> None:
    tab.get_by_label("What is in the photo?").fill(query)
    tab.keyboard.press("Enter")
    tab.locator("#results:not([aria-busy])").wait_for(state="attached")


def lit(tab: Any) -> list[float]:
    """Least and largest opacity of the dark over the photo."""
    script = """canvas => { const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      const alpha = [...data].filter((_, place) => place % 4 === 3);
      return [Math.min(...alpha), Math.max(...alpha)]; }"""
    return tab.locator("#heat").evaluate(script)


def test_search_and_look_at_a_word(tab: Any) -> None:
    search(tab, "ein roter Ball auf der Wiese")
    status = tab.locator("#status")
    status.filter(has_text="Understood as German").wait_for()
    results = tab.locator("#results button")
    assert results.count() == 9
    assert "q=ein+roter" in tab.url
    tab.evaluate("Promise.all([...document.querySelectorAll('#results img')].map(each => each.decode()))")
    assert re.match(r"1\. right \d+ %", results.first.inner_text())

    results.nth(1).focus()
    tab.keyboard.press("Enter")
    dialog = tab.get_by_role("dialog")
    words = dialog.locator("#words button")
    words.first.wait_for()
    assert words.all_inner_texts() == ["ein", "roter", "Ball", "auf", "der", "Wiese"]
    tab.locator("#photo").evaluate("photo => photo.decode()")
    assert lit(tab) == [0, 0]
    words.nth(2).hover()
    assert re.match("“Ball”: most (at the|in the|on the)", dialog.locator("#where").inner_text())
    assert lit(tab)[1] > 150
    words.nth(1).focus()
    assert dialog.locator("#where").inner_text().startswith("“roter”")
    assert words.nth(1).get_attribute("aria-pressed") == "true"
    dialog.locator("#heads button").first.click()
    assert "It looks" in dialog.locator("#where").inner_text()
    photo, canvas = (tab.locator(f"#{name}").bounding_box() for name in ("photo", "heat"))
    assert all(abs(photo[side] - canvas[side]) <= 1 for side in photo)

    tab.keyboard.press("PageDown")
    assert dialog.locator("#name").inner_text().startswith("3.")
    tab.keyboard.press("Escape")
    assert not dialog.is_visible()
    assert results.nth(1).evaluate("each => each === document.activeElement")


def test_language_unknown_words_and_history(tab: Any) -> None:
    search(tab, "a red submarine")
    tab.locator("#status", has_text="doesn't know “submarine” in English").wait_for()
    tab.get_by_label("Language").select_option("de")
    tab.locator("#status", has_text="in German").wait_for()
    assert "language=de" in tab.url
    search(tab, "qwertz asdf")
    tab.locator("#status", has_text="Try other words").wait_for()
    assert tab.locator("#results button").count() == 0
    tab.go_back()
    tab.locator("#results button").first.wait_for()
    assert tab.get_by_label("What is in the photo?").input_value() == "a red submarine"
    search(tab, "?!")
    tab.locator("#problem", has_text="no word").wait_for()


def test_photos_that_were_moved_are_said_once(tab: Any, address: str, index: Index, monkeypatch: Any) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(index, "settings", index.settings.model_copy(update={"photos": "/nowhere"}))
        search(tab, "a red ball")
        notice = tab.locator("#notice", has_text="vse-zoo index NEW --out INDEX")
        notice.wait_for()
        assert tab.get_by_text("no longer where it was indexed").count() == 1
    search(tab, "a green ball")
    tab.locator("#notice", has_text=re.compile("^$")).wait_for(state="attached")


def test_search_by_a_picture_and_by_what_is_none(tab: Any, tmp_path: Path) -> None:
    Image.new("RGB", (300, 200), "red").save(tmp_path / "p.png")
    (tmp_path / "text.png").write_text("no picture")
    tab.locator("#picture").set_input_files(tmp_path / "p.png")
    tab.locator("#results button").first.wait_for()
    assert tab.locator("#given").is_visible()
    assert tab.locator("#results button").first.inner_text().startswith("1. score 0.")
    tab.locator("#results button", has_text="red <b>").click()
    assert "zcopy.jpg" in tab.get_by_role("dialog").inner_text()
    tab.get_by_label("Close").click()
    tab.locator("#picture").set_input_files(tmp_path / "text.png")
    tab.locator("#problem", has_text="can't be read as a picture").wait_for()
    assert tab.locator("#results button").count() == 0
