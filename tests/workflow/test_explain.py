"""From a picture and a caption to one page or picture: what it says, and one message for each thing that is wrong."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from vse_zoo import cli
from vse_zoo.data import Dataset, Record, write_dataset
from vse_zoo.errors import ConfigError, DataError, EvaluationError, PresetError
from vse_zoo.models.alignment import Alignment
from vse_zoo.models.pictures import EncodesPictures
from vse_zoo.preprocessing import TextPreprocessor
from vse_zoo.workflow import explain
from vse_zoo.workflow.explain import explain_picture

Asked = list[tuple[np.ndarray, str, str]]


class Fake(EncodesPictures):
    """Word t is seen in region t; all regions send the same in total."""

    region_dim = 6
    region_backbone, region_grid = "tiny", (2, 2)

    def __init__(self) -> None:
        self.preprocessor = TextPreprocessor({"en": ["a", "dog", "runs"], "de": ["ein", "süßer", "hund"]})
        self.asked: Asked = []

    def explain(self, regions: np.ndarray, text: str, language: str = "en") -> Alignment:
        self.asked.append((regions, text, language))
        words = [word.decode() for word in self.preprocessor.words([text]).to_list()[0]]
        plan = np.full((len(regions), len(words)), 0.1, np.float32)
        plan[np.arange(len(words)) % len(regions), np.arange(len(words))] = 1
        return Alignment(words, plan - 0.05, plan / plan.sum(axis=0) / len(words), 2.5)


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch, tiny_by_name: Any) -> Fake:
    fake = Fake()
    monkeypatch.setattr(explain.presets, "load", lambda run: fake)
    return fake


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    pixels = np.random.default_rng(0).integers(0, 255, (60, 90, 3)).astype("uint8")
    Image.fromarray(pixels).save(tmp_path / "dog <1>.png")
    return tmp_path / "dog <1>.png"


@pytest.fixture
def detected(tmp_path: Path, photo: Path) -> Dataset:
    """A folder of two pictures, the first with three detected boxes, the second with two."""
    records = [Record(photo.name, "test", {"en": ["a dog"]}), Record("b.png", "test", {"en": ["a cat"]})]
    source = {"kind": "folder", "root": str(tmp_path)}
    dataset = write_dataset(tmp_path / "data", records, name="n", image_source=source, languages=("en",))
    np.save(tmp_path / "r.npy", np.arange(5 * 6, dtype=np.float32).reshape(5, 6))
    np.save(tmp_path / "b.npy", np.array([[0, 0, 0.5, 0.5], [0.2, 0.2, 1, 1], [0, 0, 1, 1]] + [[0, 0, 1, 1]] * 2, "f4"))
    np.save(tmp_path / "o.npy", np.array([0, 3, 5]))
    return dataset.attach_regions(
        tmp_path / "r.npy", tmp_path / "b.npy", backbone="detector", grid=None, left_out={}, offsets=tmp_path / "o.npy"
    )


class Page(HTMLParser):
    """Checks that tags nest; collects texts, addresses and descriptions of pictures."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[str] = []
        self.images: list[dict[str, str | None]] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "img":
            self.images.append(dict(attrs))
        elif tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_a_picture_becomes_one_page(model: Fake, photo: Path, tmp_path: Path) -> None:
    out = tmp_path / "out" / "e.html"
    found = explain_picture("runs/x", str(photo), "A <b>dog</b> runs $5$!", out)
    np.testing.assert_array_equal(model.asked[0][0], model.picture_regions(photo))
    assert (found.grid, found.known) == ((2, 2), [True, False, True, False, True, False])
    text = out.read_text(encoding="utf-8")
    page = Page(text)
    shown = " ".join(page.texts)
    for expected in ("A <b>dog</b> runs $5$!", "dog <1>.png", "runs/x", "English", "2.5", "a grid of 2×2"):
        assert expected in shown
    assert all((image["src"] or "").startswith("data:image/jpeg;base64,") for image in page.images)
    assert all(image["alt"] for image in page.images)
    assert len(page.images) == 1 + 6 + 4, "the numbered picture, one map a word, one crop a region"
    assert "http" not in text
    assert "<script" not in text
    assert text.count('class="unknown"') == 2 * 3, "above its map and above its column"
    assert "--weight:100%" in text
    assert "77 %, cosine 0.95" in shown  # 1 of 1 + 3 · 0.1


def test_the_page_gives_the_plan_by_words(model: Fake, photo: Path, tmp_path: Path) -> None:
    explain_picture("x", str(photo), "a dog", tmp_path / "e.html")
    rows = re.findall(r"<tr><th scope=\"row\">(\d+).*?</th>(.*?)</tr>", (tmp_path / "e.html").read_text("utf-8"))
    cells = [[int(value) for value in re.findall(r">(\d+)</td>", row)] for _, row in rows]
    assert [int(number) for number, _ in rows] == [1, 2, 3, 4]
    assert cells == [[77, 8], [8, 77], [8, 8], [8, 8]]


def test_a_picture_file_has_a_panel_for_each_word(model: Fake, photo: Path, tmp_path: Path) -> None:
    sizes = []
    for caption in ("a dog", "a dog runs, a dog runs, a dog runs", "a 🐕 שלום $x_1$"):
        explain_picture("x", str(photo), caption, tmp_path / "e.png")
        with Image.open(tmp_path / "e.png") as image:
            assert image.format == "PNG"
            sizes.append(image.height)
            assert len(np.unique(np.asarray(image.convert("L")))) > 100
    assert sizes[1] > sizes[0]


def test_a_datasets_regions_and_german(model: Fake, detected: Dataset, photo: Path, tmp_path: Path) -> None:
    caption = "Ein su\u0308ßer Hund"
    found = explain_picture("x", photo.name, caption, tmp_path / "e.html", language="de", data=detected.path)
    regions, text, language = model.asked[0]
    np.testing.assert_array_equal(regions, np.arange(3 * 6, dtype=np.float32).reshape(3, 6))
    assert (text, language, found.known, found.grid) == (caption, "de", [True] * 3, None)
    assert "3 detected boxes" in (tmp_path / "e.html").read_text("utf-8")
    explain_picture("x", photo.name, caption, tmp_path / "e.png", language="de", data=detected.path)
    with pytest.raises(DataError, match=r"image: found 'c.png'"):
        explain_picture("x", "c.png", "a dog", tmp_path / "e.html", data=detected.path)


def test_regions_that_a_picture_does_not_give_are_refused(
    model: Fake, photo: Path, tmp_path: Path, detected: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "e.html"
    monkeypatch.setattr(Fake, "region_dim", 7)
    with pytest.raises(DataError, match="found regions of 6 numbers, the model was trained on 7"):
        explain_picture("x", photo.name, "a dog", out, data=detected.path)
    with pytest.raises(ConfigError, match="tiny: gives regions of 6 numbers, the model was trained on 7"):
        explain_picture("x", str(photo), "a dog", out)
    for backbone, said in (("my detector", "no backbone is called 'my detector'"), (None, "nothing records which")):
        model.region_backbone = backbone
        with pytest.raises(PresetError, match=f"x: Fake: .*{said}.*--data"):
            explain_picture("x", str(photo), "a dog", out)
    assert not out.exists()


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Calls ``vse-zoo explain``: exit status, standard output, standard error."""
    monkeypatch.setenv("COLUMNS", "200")

    def call(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["vse-zoo", "explain", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as caught:
            cli.run()
        return int(caught.value.code or 0), *capsys.readouterr()

    return call


def test_the_command_says_where_the_page_is(model: Fake, photo: Path, tmp_path: Path, run: Any) -> None:
    status, said, _ = run("x", "--image", photo, "--caption", "a dog", "--out", tmp_path / "e.html")
    assert (status, said.strip()) == (0, f"Open {tmp_path / 'e.html'}")


def test_each_error_is_one_message(model: Fake, photo: Path, tmp_path: Path, run: Any) -> None:
    (tmp_path / "bad.png").write_bytes(b"not a picture")
    good = {"--image": photo, "--caption": "a dog", "--out": tmp_path / "e.html"}
    cases = [
        ({"--image": tmp_path / "none.png"}, "none.png: no such file"),
        ({"--image": tmp_path / "bad.png"}, "bad.png: can't be decoded as a picture"),
        ({"--caption": ""}, "caption: found '', which has no word"),
        ({"--caption": " ?! "}, "which has no word"),
        ({"--caption": "a \udcff"}, "isn't valid Unicode"),
        ({"--language": "fr"}, "language: found 'fr', expected one of: en, de"),
        ({"--out": tmp_path / "e.pdf"}, "expected a file name that ends with .html or .png"),
        ({"--data": tmp_path / "none"}, "no such folder"),
    ]
    for changed, reason in cases:
        status, said, error = run("x", *(part for pair in {**good, **changed}.items() for part in pair))
        assert status == 1, changed
        assert reason in error, changed
        assert error.count("Error:") == 1
        assert "Traceback" not in said + error
    assert not (tmp_path / "e.html").exists()


def test_a_model_of_whole_pictures_is_refused(photo: Path, tmp_path: Path) -> None:
    with pytest.raises(
        EvaluationError, match=r"TwoWayNet compares whole pictures .* Models that can be explained: TransportVSE\."
    ):
        explain_picture("two_way_net_mnist", str(photo), "a dog", tmp_path / "e.html")
