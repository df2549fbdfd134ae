"""Small presets of both kinds, indexed and searched: results are those of scoring every photo with the model."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
from PIL import Image

from vse_zoo import presets
from vse_zoo.errors import ConfigError, DataError, ImageError, PresetError
from vse_zoo.features import Backbone, backbones
from vse_zoo.models import ContextAttentionVSE, TransportVSE
from vse_zoo.preprocessing import TextPreprocessor
from vse_zoo.search import Calibration, Index
from vse_zoo.search.calibration import LENGTHS, Curve
from vse_zoo.workflow.index import index_photos

WORDS = {"en": ["a", "red", "dog", "hand"], "de": ["ein", "roter", "hund", "hand"]}
PHOTOS = 30


@pytest.fixture(scope="module")
def backbone() -> Backbone:
    return backbones.get("efficientnet_lite0", (2, 2))


@pytest.fixture(autouse=True)
def one_backbone(monkeypatch: pytest.MonkeyPatch, backbone: Backbone) -> None:
    """It is loaded once for all tests."""
    monkeypatch.setattr(backbones, "get", lambda name, grid: backbone)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Photos of noise, and a copy of the first."""
    folder, random = tmp_path_factory.mktemp("photos"), np.random.default_rng(0)
    for number in range(PHOTOS):
        pixels = random.integers(0, 256, (2 + number % 5, 3, 3)).astype("uint8")
        Image.fromarray(pixels).resize((64, 48)).save(folder / f"{number:02}.png")
    shutil.copy(folder / "00.png", folder / "copy.png")
    return folder


def attention() -> Any:
    return ContextAttentionVSE(TextPreprocessor(WORDS), 1280, units=8, heads=1, word_dim=5)


def transport(reduction: str) -> Any:
    return TransportVSE(TextPreprocessor(WORDS), 1280, units=8, word_dim=5, transport_weight=6.0, reduction=reduction)


MODELS: dict[str, Callable[[], Any]] = {
    "embedding": attention,
    "sum of words": lambda: transport("sum"),
    "mean of words": lambda: transport("mean"),
}


@pytest.fixture(scope="module", params=MODELS)
def preset(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    keras.utils.set_random_seed(1)
    model = MODELS[request.param]()
    model.build()
    folder = tmp_path_factory.mktemp("preset") / "tiny"
    presets.save(model, folder, {"dataset": {"backbone": "efficientnet_lite0", "grid": [2, 2]}})
    return folder


@pytest.fixture(scope="module")
def index(preset: Path, folder: Path, backbone: Backbone, tmp_path_factory: pytest.TempPathFactory) -> Index:
    out = tmp_path_factory.mktemp("index") / "i"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(backbones, "get", lambda name, grid: backbone)
        done = index_photos(folder, out, str(preset))
    assert (done.encoded, done.photos, done.contents) == (PHOTOS, PHOTOS + 1, PHOTOS)
    return Index.open(out)


@pytest.fixture(scope="module")
def regions(folder: Path, backbone: Backbone) -> np.ndarray:
    """Of all photos but the copy, from the pixels."""
    squares = [Image.open(folder / f"{n:02}.png").resize((224, 224), Image.Resampling.BICUBIC) for n in range(PHOTOS)]
    return backbone.regions(np.stack([np.asarray(square) for square in squares])).astype(np.float16)


def everything(index: Index, regions: np.ndarray, query: str, language: str) -> list[tuple[float, str]]:
    """The scores of all photos by the model itself."""
    model = index.encoder.model
    scores = model.similarity(model.encode_image(regions), model.encode_text([query], language))[:, 0]
    return sorted(((float(score), f"{n:02}.png") for n, score in enumerate(scores)), reverse=True)


@pytest.mark.parametrize(
    ("query", "language"), [("a red dog", "en"), ("ein roter Hund", "de"), ("dog dog zebra", "en")]
)
def test_the_results_are_those_of_scoring_every_photo(
    index: Index, regions: np.ndarray, query: str, language: str
) -> None:
    expected = everything(index, regions, query, language)
    for k in (4, 100):
        answer = index.search_text(query, k=k)
        assert (answer.language, answer.photos) == (language, PHOTOS)
        assert len(answer.results) == min(k, PHOTOS)
        np.testing.assert_allclose(
            [result.score for result in answer.results], [score for score, _ in expected[:k]], atol=2e-5
        )
        first, second = expected[0][0], expected[1][0]
        assert answer.results[0].path.name == expected[0][1] or first - second < 4e-5


def test_a_photo_finds_itself_and_its_copies(index: Index, folder: Path) -> None:
    for asked in (folder / "00.png", Image.open(folder / "00.png"), np.asarray(Image.open(folder / "00.png"))):
        answer = index.search_image(asked, k=2)
        first = answer.results[0]
        assert first.path == folder / "00.png"
        assert first.copies == (folder / "copy.png",)
        assert first.confidence is None
        assert not first.weak
        assert (answer.language, answer.words, len(answer.results)) == (None, (), 2)
    with pytest.raises(ImageError, match="no such file"):
        index.search_image(folder / "missing.png")


def test_the_index_lists_what_it_holds(index: Index, folder: Path) -> None:
    assert len(index) == index.count == PHOTOS
    assert index.photos == sorted(folder.iterdir())
    assert index.unreadable == {}
    assert index.languages == ("en", "de")
    key = index.search_image(folder / "00.png", k=1).results[0].key
    assert index.files(key) == [folder / "00.png", folder / "copy.png"]
    assert index.files(0) == index.files(10**9) == []


def test_words_decide_the_language_and_unknown_ones_are_named(index: Index) -> None:
    assert index.search_text("ROTER hund!").language == "de"
    assert index.search_text("hand").language == "en"  # known in both, English is first
    assert index.search_text("hand", language="de").language == "de"
    mixed = index.search_text("a zebra, a dog")
    assert (mixed.language, mixed.unknown) == ("en", ("zebra",))
    nothing = index.search_text("zebra Quokka")
    assert (nothing.unknown, nothing.results) == (("zebra", "quokka"), ())
    assert nothing.as_json()["unknown_words"] == ["zebra", "quokka"]


@pytest.mark.parametrize("query", ["", "  ", "?!", "\ud800"])
def test_a_query_without_words_is_an_error(index: Index, query: str) -> None:
    with pytest.raises(DataError, match="query: found"):
        index.search_text(query)


def test_impossible_questions_are_errors(index: Index) -> None:
    with pytest.raises(DataError, match="found 'fr', expected one of: en, de"):
        index.search_text("dog", language="fr")
    with pytest.raises(ConfigError, match="k: found 0"):
        index.search_text("dog", k=0)
    with pytest.raises(ConfigError, match="found 2, expected a share"):
        index.search_text("dog", min_confidence=2)
    with pytest.raises(ConfigError, match="was not calibrated"):
        index.search_text("dog", min_confidence=0.5)


def test_calibrated_scores_have_confidences(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = index.search_text("a red dog", k=PHOTOS)
    words = (
        3 if index.settings.similarity == "pairwise" and "sum" in str(index.encoder.model.alignment.reduction) else 1
    )
    levels = np.array([result.score / words for result in plain.results])
    curve = Curve(np.array([levels.min(), levels.max()]), np.array([0.0, 1.0]))
    other = Curve(np.array([0.0]), np.array([0.5]))
    found = Calibration("dev", 10, 10, {"en": dict(zip(LENGTHS, (curve, other), strict=True))}, {})
    monkeypatch.setattr(index, "calibration", found, raising=False)
    answer = index.search_text("a red dog", k=PHOTOS)
    expected = (levels - levels.min()) / (levels.max() - levels.min())
    np.testing.assert_allclose([result.confidence for result in answer.results], expected, atol=1e-6)
    assert [result.weak for result in answer.results] == (expected < 0.1).tolist()
    strong = index.search_text("a red dog", k=PHOTOS, min_confidence=0.5)
    assert strong.results == tuple(result for result in answer.results if (result.confidence or 0) >= 0.5)
    assert {result.confidence for result in index.search_text("a red dog a red dog").results} == {0.5}
    assert {result.confidence for result in index.search_text("ein roter hund").results} == {None}


def test_threads_may_share_an_index(index: Index, folder: Path) -> None:
    queries = ["a red dog", "roter hund", "hand", "dog"]
    expected = [index.search_text(query, k=3) for query in queries]
    picture = index.search_image(folder / "03.png", k=3)
    with Index.open(index.folder) as shared, ThreadPoolExecutor(4) as pool:
        answers = [pool.submit(shared.search_text, query, k=3) for query in queries * 2]
        pictures = [pool.submit(shared.search_image, folder / "03.png", k=3) for _ in range(4)]
        assert [answer.result() for answer in answers] == expected * 2
        assert [each.result() for each in pictures] == [picture] * 4


def test_a_preset_that_was_replaced_is_noticed(index: Index, preset: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(index.folder, tmp_path / "copy")
    config = (preset / "metadata.json").read_text()
    try:
        Calibration("dev", 1, 1, {}, {}).write(preset)
        presets.record_hashes(preset)
        Index.open(copy).close()  # what scores mean changes no vector
        (preset / "metadata.json").write_text(config.replace("[\n      2,", "[\n      3,"))
        with pytest.raises(PresetError, match="was replaced or removed since the photos were indexed"):
            Index.open(copy)
    finally:
        (preset / "metadata.json").write_text(config)
        (preset / "assets" / "calibration.json").unlink(missing_ok=True)


def test_an_index_that_is_none_or_damaged_is_an_error(index: Index, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="found no index there"):
        Index.open(tmp_path)
    for damage, message in (("{}", "Field required"), ('{"format": 9}', "newer|at most 1"), ("[]", "valid dictionary")):
        (tmp_path / "index.json").write_text(damage)
        with pytest.raises(DataError, match=message):
            Index.open(tmp_path)
    copy = shutil.copytree(index.folder, tmp_path / "copy")
    (copy / "catalogue.sqlite").write_bytes(b"not a database" * 100)
    with pytest.raises(DataError, match="can't be read as SQLite"):
        Index.open(copy)


def test_photos_that_are_no_longer_there_are_said(
    index: Index, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert index.search_text("a red dog", k=3).notice() is None
    photos = shutil.copytree(folder, tmp_path / "photos")
    monkeypatch.setattr(index, "settings", index.settings.model_copy(update={"photos": str(photos)}))
    (photos / "00.png").unlink()
    answer = index.search_image(folder / "00.png", k=3)
    assert (answer.results[0].path, answer.results[0].copies) == (photos / "copy.png", (photos / "00.png",))
    assert (answer.notice(), answer.as_json()["notice"]) == (None, None)
    (photos / "copy.png").unlink()
    answer = index.search_image(folder / "00.png", k=3)
    assert answer.results[0].path == photos / "00.png"
    assert answer.notice("i") == (
        "1 of these 3 photos are no longer there. Connect their drive, or, if you moved or deleted them, "
        "run: vse-zoo index PHOTOS --out i"
    )
    photos.rename(tmp_path / "elsewhere")
    for answer in (index.search_image(folder / "00.png"), index.search_text("a red dog"), index.search_text("zebra")):
        assert answer.moved
        assert str(answer.as_json()["notice"]).endswith("if you moved it, run: vse-zoo index NEW --out INDEX")
