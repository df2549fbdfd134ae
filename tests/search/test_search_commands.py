"""`vse-zoo index` and `vse-zoo search`: what they print, write and refuse."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from vse_zoo.cli import app
from vse_zoo.errors import ConfigError, DataError, PresetError
from vse_zoo.search import IndexSettings, Update, update_index
from vse_zoo.search.answers import Answer, Result
from vse_zoo.search.index import Index
from vse_zoo.search.page import write_page
from vse_zoo.search.settings import preset_fingerprint
from vse_zoo.workflow.index import index_photos

Run = Callable[..., Update]


@pytest.fixture
def made(tmp_path: Path, settings: IndexSettings, encoder: Any) -> Path:
    """The index of the coloured photos, whose preset is a folder with nothing but a configuration."""
    preset = Path(settings.preset_folder)
    preset.mkdir()
    (preset / "config.json").write_text("{}")
    own = settings.model_copy(update={"fingerprint": preset_fingerprint(preset)})
    update_index(tmp_path / "index", own, lambda: encoder)
    return tmp_path / "index"


def result(path: Path, score: float = 0.5, confidence: float | None = 0.4, copies: tuple[Path, ...] = ()) -> Result:
    return Result(path, score, confidence, 1, copies)


@pytest.fixture
def answered(made: Path, photos: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """Every question gets the same answer; what was asked."""
    asked: list[tuple[Any, ...]] = []
    found = (
        result(photos / "red.png", 0.6261, 0.45, (photos / "pink.png",)),
        result(photos / "green.png", 0.2, 0.04),
    )

    def search(index: Index, *arguments: Any) -> Answer:
        asked.append(arguments)
        return Answer("a red zebra", "en", ("a", "red", "zebra"), ("zebra",), found, 5)

    monkeypatch.setattr(Index, "search_text", search)
    monkeypatch.setattr(Index, "search_image", search)
    return asked


def test_a_search_prints_a_table_with_links(answered: list[tuple[Any, ...]], made: Path, photos: Path) -> None:
    printed = CliRunner().invoke(app, ["search", str(made), "a red zebra", "--language", "en", "-k", "7"])
    assert printed.exit_code == 0
    assert answered == [("a red zebra", "en", 7, None)]
    lines = [" ".join(line.split()) for line in printed.output.splitlines()]
    assert lines[0] == "Words that the model doesn't know (en): zebra"
    assert f"1 0.626 45% {photos / 'red.png'} (+1 copies)" in lines
    assert f"2 0.200 4% weak {photos / 'green.png'}" in lines
    assert lines[-1] == "5 photos searched (en)."


def test_a_moved_folder_of_photos_is_said_once(made: Path, photos: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = tuple(result(photos / f"{name}.png") for name in ("red", "green", "blue"))
    answer = Answer("dog", "en", ("dog",), (), found, 5, moved=True)
    monkeypatch.setattr(Index, "search_text", lambda *arguments: answer)
    photos.rename(photos.parent / "elsewhere")
    lines = CliRunner().invoke(app, ["search", str(made), "dog"]).output.splitlines()
    assert lines[0] == (
        "The folder of the photos is no longer where it was indexed. "
        f"Connect its drive, or, if you moved it, run: vse-zoo index NEW --out {made}"
    )
    assert sum("no longer" in line for line in lines) == 1
    values = json.loads(CliRunner().invoke(app, ["search", str(made), "dog", "--json"]).output)
    assert values["notice"].endswith("run: vse-zoo index NEW --out INDEX")
    page = photos.parent / "page.html"
    CliRunner().invoke(app, ["search", str(made), "dog", "--html", str(page)])
    assert page.read_text(encoding="utf-8").count("vse-zoo index NEW --out INDEX") == 1
    # What it says to do helps.
    assert index_photos(photos.parent / "elsewhere", made).encoded == 0
    with Index.open(made) as opened:
        assert not opened.moved


def test_json_is_all_that_is_printed(answered: list[tuple[Any, ...]], made: Path, photos: Path) -> None:
    printed = CliRunner().invoke(app, ["search", str(made), "a red zebra", "--json", "--min-confidence", "0.2"])
    assert answered == [("a red zebra", None, 10, 0.2)]
    values = json.loads(printed.output)
    assert values["unknown_words"] == ["zebra"]
    assert values["results"][0] == {
        "path": str(photos / "red.png"),
        "score": 0.6261,
        "confidence": 0.45,
        "weak": False,
        "copies": [str(photos / "pink.png")],
    }
    assert values["results"][1]["weak"] is True


def test_a_search_by_picture(answered: list[tuple[Any, ...]], made: Path, photos: Path) -> None:
    assert CliRunner().invoke(app, ["search", str(made), "--image", str(photos / "red.png")]).exit_code == 0
    assert answered == [(photos / "red.png", 10)]


@pytest.mark.parametrize("words", [[], ["dog", "--image", "a.png"]])
def test_a_query_or_a_picture_is_needed_and_not_both(made: Path, words: list[str]) -> None:
    outcome = CliRunner().invoke(app, ["search", str(made), *words])
    assert isinstance(outcome.exception, ConfigError)


def test_the_page_needs_nothing_beside_it(tmp_path: Path, photos: Path) -> None:
    odd = photos / "<b>&\udce9.png"
    answer = Answer(
        "<script>alert(1)</script>", "en", (), ("zebra",), (result(photos / "red.png"), result(odd, 0.1, 0.01)), 5
    )
    write_page(answer, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.count("data:image/jpeg;base64,") == 1
    assert "<script>" not in page
    assert "&lt;b&gt;&amp;" in page
    assert "right 40%" in page
    assert "right 1% (weak)" in page
    assert "can't be opened" in page
    assert not re.search(r'(?:src|href)="(?!data:|file:|#)', page)
    write_page(Answer("dog", "en", (), (), (), 5), tmp_path / "empty.html")
    assert "Nothing found" in (tmp_path / "empty.html").read_text(encoding="utf-8")


def test_index_says_what_it_did(made: Path, photos: Path) -> None:
    (photos / "bad ü.jpg").write_text("no picture")
    (photos / "again.png").write_bytes((photos / "red.png").read_bytes())
    (photos / "blue.png").unlink()
    printed = CliRunner().invoke(app, ["index", str(photos), "--out", str(made)])
    assert printed.exit_code == 0, printed.output
    assert "- left out bad ü.jpg: can't be decoded as a picture" in printed.output
    assert "5 photos, 1 of them copies: 2 new, 0 changed, 1 gone." in printed.output
    assert f'vse-zoo search {made} "' in printed.output


def test_an_index_follows_its_preset(made: Path, settings: IndexSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    moved = Path(settings.preset_folder).rename(made.parent / "colours")
    with pytest.raises(PresetError, match="was replaced or removed"):
        Index.open(made)
    monkeypatch.chdir(made.parent)  # where its name leads to it
    with Index.open(made) as index:
        assert Path(index.settings.preset_folder).samefile(moved)


def test_an_index_that_may_only_be_read_can_be_searched(made: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in made.rglob("*")}
    for path in before:
        path.chmod(0o555 if path.is_dir() else 0o444)
    with Index.open(made) as index:
        assert len(index.backend.search(np.ones(3, np.float32), 9)[0]) == index.count == 5
    assert {path: path.stat().st_mtime_ns for path in made.rglob("*")} == before


def test_ctrl_c_keeps_what_was_done(made: Path, photos: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*arguments: Any) -> Update:
        raise KeyboardInterrupt

    monkeypatch.setattr("vse_zoo.workflow.index.index_photos", interrupted)
    outcome = CliRunner().invoke(app, ["index", str(photos), "--out", str(made)])
    assert outcome.exit_code == 130
    assert "Run the same command to go on" in outcome.output


def test_photos_that_are_no_folder_and_presets_that_are_none_are_errors(tmp_path: Path, photos: Path) -> None:
    with pytest.raises(DataError, match="found no folder there"):
        index_photos(tmp_path / "nowhere", tmp_path / "index")
    with pytest.raises(PresetError, match="neither a model folder nor a built-in model 'none'"):
        index_photos(photos, tmp_path / "index", "none")
    with pytest.raises(PresetError, match="takes no sentences"):
        index_photos(photos, tmp_path / "index", "two_way_net_mnist")
    assert not (tmp_path / "index").exists()


def test_nothing_to_do_needs_no_tensorflow(made: Path, photos: Path) -> None:
    code = (
        "import sys\n"
        "from vse_zoo.cli import app\n"
        "app(sys.argv[1:], standalone_mode=False)\n"
        "print('tensorflow' in sys.modules, 'keras' in sys.modules)"
    )
    arguments = [sys.executable, "-c", code, "index", str(photos), "--out", str(made)]
    said = subprocess.run(arguments, check=True, text=True, stdout=subprocess.PIPE).stdout
    assert said.startswith("5 photos")
    assert said.endswith("False False\n")
