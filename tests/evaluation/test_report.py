"""The report: what it says, that it needs nothing beside it, and that attention lands where the boxes are."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from vse_zoo.data.records import Record
from vse_zoo.errors import ImageError
from vse_zoo.evaluation import Direction, RetrievalFigures
from vse_zoo.evaluation.baselines import Comparison
from vse_zoo.evaluation.report import report_run, write_report
from vse_zoo.evaluation.report.content import (
    AttendedImage,
    CaptionHit,
    ImageQuery,
    Picture,
    PictureHit,
    SpaceMap,
    TextQuery,
    Triple,
)
from vse_zoo.models.alignment import Alignment
from vse_zoo.preprocessing import TextPreprocessor
from vse_zoo.sets import ItemSets

FIGURES = RetrievalFigures(Direction(31.5, 60, 72, 3, 9, 10), Direction(22.5, 50, 65, 5, 12, 50), 10, 50)


class Page(HTMLParser):
    """Checks that tags nest, and collects texts and addresses."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[str] = []
        self.addresses: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href", "xlink:href")]
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href", "xlink:href")]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def picture(side: int = 40) -> Image.Image:
    return Image.fromarray(np.full((side, side, 3), 128, np.uint8))


def test_a_full_report_is_one_sound_file(tmp_path: Path) -> None:
    weights, boxes = np.array([[0.7, 0.3], [0.1, 0.9]]), np.array([[0, 0, 0.5, 1], [0.5, 0, 1, 1]])
    captions = [CaptionHit("<b>bold</b>", 0.5, True), CaptionHit("no", 0.4, False)]
    write_report(
        tmp_path / "report.html",
        title="A <run> & more",
        figures={"en": FIGURES},
        facts={"data": "scenes"},
        comparisons=[Comparison("ceiling", {"en": ((97.5, None, None), (81.25, None, None))})],
        history=[{"epoch": "0", "loss": "2.5", "val_rsum": "100"}, {"epoch": "1", "loss": "1.5", "val_rsum": "180"}],
        image_queries=[ImageQuery(Picture(picture(), "a.jpg", 'a "dog"'), {"en": (77, captions)})],
        text_queries=[TextQuery("ein Hund", "de", 1234, [PictureHit(Picture(picture(), "b.jpg"), 0.75, False)])],
        attention=[AttendedImage(Picture(picture(), "a.jpg"), weights, boxes, [("en", ["a", "dog"], weights)])],
    )
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    page = Page(text)
    assert all(address.startswith(("data:image/jpeg;base64,", "#")) for address in page.addresses)
    assert "<script" not in text
    assert "http" not in re.sub(r'xmlns(:\w+)?="[^"]*"', "", re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.S))
    shown = " ".join(page.texts)
    for expected in (
        "A <run> & more",
        "this model",
        "31.5",
        "97.5",
        "81.2",
        "<b>bold</b>",
        "ein Hund",
        "1,234",
        "180",
        "rank 77",
    ):
        assert expected in shown
    assert text.count('<li class="right">') == 1
    assert text.count('<li class="wrong">') == 2
    assert "--weight:100%" in text
    assert 'alt="query picture: a &quot;dog&quot;"' in text


def test_parts_without_content_are_left_out(tmp_path: Path) -> None:
    write_report(tmp_path / "r.html", title="t", figures={"en": FIGURES})
    assert Page((tmp_path / "r.html").read_text(encoding="utf-8")).texts.count("Retrieval") == 1
    assert "Attention" not in (tmp_path / "r.html").read_text(encoding="utf-8")


class Attending:
    """A model over `Folder` below, with two heads."""

    def encode_image(self, regions: np.ndarray, region_mask: np.ndarray) -> np.ndarray:
        return regions.mean(axis=1, dtype=np.float32)

    def encode_text(self, texts: list[str], language: str) -> np.ndarray:
        return np.eye(3, dtype=np.float32)[[int(text[-1]) for text in texts]]

    def similarity(self, images: np.ndarray, texts: np.ndarray) -> np.ndarray:
        return images @ texts.T

    def attend_image(self, regions: np.ndarray, region_mask: np.ndarray) -> np.ndarray:
        return np.full((len(regions), 2, regions.shape[1]), 1 / regions.shape[1])

    def attend_text(self, texts: list[str], language: str) -> tuple[list[list[str]], np.ndarray]:
        return [text.split() for text in texts], np.full((len(texts), 2, 2), 0.5)


class Scenes:
    """Three images with a caption in each language."""

    grid = (2, 2)

    def __init__(self, has_pictures: bool = True) -> None:
        self.has_pictures = has_pictures
        self.records = [Record(f"{n}.jpg", "test", {"en": [f"dog {n}"], "de": [f"Hund {n}"]}) for n in range(3)]

    def captions(self, split: str, language: str) -> tuple[list[str], np.ndarray]:
        return [record.captions[language][0] for record in self.records], np.arange(3)

    def regions(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.repeat(np.eye(3, dtype=np.float32)[rows][:, None], 4, axis=1), np.ones((len(rows), 4), bool)

    def boxes(self, row: int) -> np.ndarray:
        return np.array([[0, 0, 0.5, 0.5], [0.5, 0, 1, 0.5], [0, 0.5, 0.5, 1], [0.5, 0.5, 1, 1]])

    def open_image(self, row: int) -> Image.Image:
        return picture()


def space(names: list[str], captions: dict[str, str]) -> SpaceMap:
    """A map of pictures with the same captions, the views of each on a line of their own."""
    views = 1 + len(captions)
    points = np.stack([np.stack([np.arange(len(names)), np.full(len(names), v / 10)], axis=1) for v in range(views)])
    triples = [Triple(Picture(picture() if n else None, name, "d"), captions) for n, name in enumerate(names)]
    return SpaceMap(triples, points, np.full((views, views, len(names)), 0.5), np.full((views, views), 0.125))


def test_the_map_says_what_each_mark_is(tmp_path: Path) -> None:
    captions = {"en": "a </script><b>", "de": "süß"}
    write_report(tmp_path / "r.html", title="t", figures={"en": FIGURES}, space=space(["a.jpg", "b.jpg"], captions))
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    page = Page(text)
    assert text.count('class="triple"') == 2
    assert [text.count(f'class="mark view-{view}"') for view in range(3)] == [3, 3, 3], "one more each in the legend"
    assert text.count("</script>") == 2
    details = json.loads(next(each for each in page.texts if each.startswith("[{")))
    assert [each["image"] is None for each in details] == [True, False]
    assert details[1]["captions"] == [["en", "English", "a </script><b>"], ["de", "German", "süß"]]
    assert "picture and German 0.50" in details[1]["cosines"]
    assert {"0.50", "0.12"} <= set(page.texts), "the table of mean cosines"


def test_five_languages_and_equal_places_can_be_drawn(tmp_path: Path) -> None:
    shown = space(["a", "b"], dict.fromkeys(("en", "de", "fr", "cs", "xx"), "x"))
    shown.points[:] = 0
    write_report(tmp_path / "r.html", title="t", figures={"en": FIGURES}, space=shown)
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "NaN" not in text
    assert "nan" not in re.sub(r"base64,[^\"]*", "", text).split("<script>")[0]


def test_report_of_features_without_pictures(tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    report_run(
        Attending(), Scenes(has_pictures=False), "test", {"en": FIGURES}, out, title="scenes", facts={"Data": "x"}
    )
    text = out.read_text(encoding="utf-8")
    assert "<dt>Data</dt>" in text
    assert "the dataset holds features only" in text
    assert "it takes 5 pictures" in text
    assert "chance" in text
    assert "<img" not in text


@pytest.mark.parametrize("queries", [1, 6])
def test_report_of_a_run_asks_the_model(tmp_path: Path, queries: int) -> None:
    out = tmp_path / "report.html"
    report_run(Attending(), Scenes(), "test", {"en": FIGURES, "de": FIGURES}, out, title="scenes", queries=queries)
    text = out.read_text(encoding="utf-8")
    assert "chance" in text
    assert "its own picture has rank 1<" in text
    pictures = min(queries, 3)
    sentences = 2 * max(1, pictures // 2)
    assert text.count('<li class="right">') == 2 * pictures + sentences
    assert text.count('alt="attention of head 2"') == max(1, min(queries // 2, 3))


class Aligning:
    """A model of regions and words that sees word t in region t."""

    def __init__(self) -> None:
        self.preprocessor = TextPreprocessor({"en": ["dog"], "de": ["hund"]})

    def encode_image(self, regions: np.ndarray, region_mask: np.ndarray) -> ItemSets:
        return ItemSets.of(regions, region_mask)

    def encode_text(self, texts: list[str], language: str) -> ItemSets:
        return ItemSets(np.eye(3, dtype=np.float32)[[int(text[-1]) for text in texts]], np.ones(len(texts), int))

    def similarity(self, images: ItemSets, texts: ItemSets) -> np.ndarray:
        return np.array([[(image @ text.T).max() for text in texts] for image in images])

    def explain(self, regions: np.ndarray, text: str, language: str) -> Alignment:
        words = text.lower().split()
        plan = np.eye(len(regions), len(words), dtype=np.float32)
        return Alignment(words, plan, plan / len(words), 1.5)


def test_a_model_of_regions_and_words_shows_each_word(tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    report_run(Aligning(), Scenes(), "test", {"en": FIGURES, "de": FIGURES}, out, title="scenes", queries=2)
    text = out.read_text(encoding="utf-8")
    shown = " ".join(Page(text).texts)
    assert text.count('alt="where dog is seen"') == text.count('alt="where hund is seen"') == 1
    assert "German; score 1.50" in shown
    assert "Aligning compares parts, and has no one vector" in shown
    assert text.count('<li class="right">') == 2 * 2 + 2
    assert "<script" not in text


class Missing(Scenes):
    """The second picture's file is gone."""

    def open_image(self, row: int) -> Image.Image:
        if row == 1:
            raise ImageError("photos/1.jpg: no such file.")
        return super().open_image(row)


def test_a_missing_picture_is_named_and_the_rest_shown(tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    report_run(Attending(), Missing(), "test", {"en": FIGURES, "de": FIGURES}, out, title="scenes")
    shown = " ".join(Page(out.read_text(encoding="utf-8")).texts)
    assert "1 can't be opened, and is shown by name; the first: photos/1.jpg: no such file." in shown
    assert "no picture: 1.jpg" in shown
    assert "head 2" in shown


def luminance(color: str) -> float:
    digits = color * 2 if len(color) == 3 else color
    parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_and_marks_stand_out(tmp_path: Path, scheme: str) -> None:
    """WCAG 2: 4.5 to 1 for text, 3 to 1 for what carries meaning in a drawing."""
    write_report(tmp_path / "r.html", title="t", figures={"en": FIGURES})
    roots = re.findall(r":root \{(.*?)\}", (tmp_path / "r.html").read_text(encoding="utf-8"), flags=re.S)
    colors = dict(re.findall(r"--([\w-]+): #(\w+);", roots[scheme == "dark"]))

    def contrast(one: str, other: str) -> float:
        low, high = sorted(luminance(colors[name]) for name in (one, other))
        return (high + 0.05) / (low + 0.05)

    for ground in ("paper", "card"):
        assert all(contrast(text, ground) >= 4.5 for text in ("ink", "dim", "right", "wrong"))
    assert contrast("ink", "mark") >= 4.5
    assert all(contrast(f"view-{view}", "card") >= 3 for view in range(5))
