"""vse-zoo report on rendered scenes with a small random model of three heads; in a real browser where there is one."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import keras
import numpy as np
import pytest

from vse_zoo import cli, presets
from vse_zoo.data import Dataset
from vse_zoo.data.sources.scenes import read_scenes
from vse_zoo.errors import ConfigError, DataError, EvaluationError
from vse_zoo.features.grids import grid_boxes
from vse_zoo.models import ContextAttentionVSE
from vse_zoo.models.context_attention import ContextualWords
from vse_zoo.preprocessing import PiecePreprocessor, TextPreprocessor
from vse_zoo.workflow import report
from vse_zoo.workflow.report import report_folder

IMAGES, HEADS = 12, 3
LOG = "epoch,loss,val_rsum\n0,2.5,100\n1,1.5,180\n"


@pytest.fixture(scope="module")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    folder = tmp_path_factory.mktemp("scenes")
    dataset = read_scenes(train=1, dev=IMAGES, test=1).write(folder / "data")
    images = IMAGES + 2
    np.save(folder / "r.npy", np.random.default_rng(0).standard_normal((images, 9, 6)).astype(np.float16))
    np.save(folder / "b.npy", np.tile(grid_boxes((7, 7), (3, 3)).astype(np.float32), (images, 1, 1)))
    return dataset.attach_regions(folder / "r.npy", folder / "b.npy", backbone="b", grid=(3, 3), left_out={})


@pytest.fixture(scope="module")
def run(scenes: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder with a log of two epochs."""
    keras.utils.set_random_seed(0)
    captions = {language: scenes.captions("dev", language)[0] for language in scenes.languages}
    model = ContextAttentionVSE(
        TextPreprocessor.from_captions(captions, minimum_count=1), 6, units=8, heads=HEADS, word_dim=8
    )
    model.build()
    folder = tmp_path_factory.mktemp("run")
    presets.save(model, folder / "best", {"dataset": {"content_hash": "0", "name": "photos"}})
    (folder / "log.csv").write_text(LOG)
    return folder


@pytest.fixture(scope="module")
def page(scenes: Dataset, run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("page") / "report.html"
    report_folder(str(run), scenes.path, "dev", out, queries=4, seed=1)
    return out


def test_the_page_has_every_part(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert re.findall(r"<h2[^>]*>(.*?)</h2>", text) == [
        "Retrieval",
        "Training",
        "Captions found for a picture",
        "Pictures found for a sentence",
        "Attention",
        "Pictures and captions in one map",
    ]
    for language in ("English", "German"):
        assert f"{language}: {IMAGES} images" in text
    assert "best 180 in epoch 1" in text
    assert text.count(f'alt="attention of head {HEADS}"') == 2
    assert f'alt="attention of head {HEADS + 1}"' not in text
    assert text.count('class="triple"') == IMAGES
    assert "trained on another dataset, photos" in text
    assert all('alt="' in tag for tag in re.findall(r"<img[^>]*>", text))
    assert len(text) < 2e6


@pytest.mark.slow
def test_a_seed_gives_one_page_and_another_one_another(scenes: Dataset, run: Path, page: Path, tmp_path: Path) -> None:
    for seed in (1, 2):
        report_folder(str(run), scenes.path, "dev", tmp_path / f"{seed}.html", queries=4, seed=seed)
    assert (tmp_path / "1.html").read_bytes() == page.read_bytes()
    assert (tmp_path / "2.html").read_bytes() != page.read_bytes()


def test_one_message_for_each_error(
    scenes: Dataset, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "r.html"
    with pytest.raises(ConfigError, match=r"expected a file name that ends with .html"):
        report_folder(str(run), scenes.path, "dev", tmp_path / "r.txt")
    with pytest.raises(ConfigError, match="queries: found 0"):
        report_folder(str(run), scenes.path, "dev", out, queries=0)
    with pytest.raises(DataError, match="split: found 'val', expected one of: train, dev, test"):
        report_folder(str(run), scenes.path, "val", out)
    (tmp_path / "two_view.json").write_text("{}")
    with pytest.raises(EvaluationError, match="holds two matrices"):
        report_folder(str(run), tmp_path, "dev", out)
    for model, error, match in (
        (SimpleNamespace(languages=()), EvaluationError, "made for two matrices"),
        (SimpleNamespace(languages=("en",), region_dim=7), DataError, "found regions of 6 numbers, .* on 7"),
    ):
        monkeypatch.setattr(report.presets, "load", lambda name, model=model: model)
        with pytest.raises(error, match=match):
            report_folder(str(run), scenes.path, "dev", out)
    monkeypatch.setattr(sys, "argv", ["vse-zoo", "report", str(run), "--data", str(scenes.path), "--split", "val"])
    with pytest.raises(SystemExit):
        cli.run()
    assert "Error:" in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_works_in_a_browser(browser: Any, page: Path, width: int, scheme: str) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 844}, color_scheme=scheme, has_touch=width < 500, offline=True
    )
    tab = context.new_page()
    said: list[str] = []
    tab.on("console", lambda message: said.append(message.text))
    tab.on("pageerror", lambda error: said.append(str(error)))
    tab.on("requestfailed", lambda request: said.append(request.url[:80]))
    tab.goto(page.as_uri())
    assert tab.evaluate("document.documentElement.scrollWidth") <= width

    marks, shown = tab.locator(".triple"), tab.locator(".shown")
    for number in (3, 5):
        mark = marks.nth(number).locator(".mark").first
        mark.scroll_into_view_if_needed()
        mark.tap(force=True) if width < 500 else mark.hover(force=True)
        nearest = tab.locator(".chosen .triple.on").get_attribute("aria-label")  # marks may overlap
        assert nearest.startswith(shown.locator("h3").inner_text() + ":")
    marks.first.focus()
    for key, number in (("ArrowRight", 1), ("ArrowDown", 2), ("ArrowLeft", 1), ("End", IMAGES - 1), ("Home", 0)):
        tab.keyboard.press(key)
        wanted, *captions = re.split(": |; ", marks.nth(number).get_attribute("aria-label"))
        assert shown.locator("h3").inner_text() == wanted
        assert shown.locator("p[lang=de]").inner_text() == captions[-1]
        assert shown.locator("img").evaluate("image => image.complete && image.naturalWidth") > 0
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    assert not tab.evaluate("[...document.images].filter(each => !each.naturalWidth || !each.alt).length")
    assert said == []
    context.close()


def test_word_pieces_have_their_attention_too(scenes: Dataset, tiny_bert: dict[str, Path], tmp_path: Path) -> None:
    keras.utils.set_random_seed(0)
    preprocessor = PiecePreprocessor.from_encoder(tiny_bert["keras"], ["en", "de"], max_length=20)
    words = ContextualWords.from_encoder(tiny_bert["keras"], preprocessor.special_pieces)
    model = ContextAttentionVSE(preprocessor, 6, contextual=words, units=8, heads=HEADS)
    model.build()
    presets.save(model, tmp_path / "best", {})
    report_folder(str(tmp_path / "best"), scenes.path, "dev", tmp_path / "r.html", queries=4)
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert text.count(f'alt="attention of head {HEADS}"') == 2
    assert "no curves" in text
