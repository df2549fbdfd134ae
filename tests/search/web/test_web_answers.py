"""The page's JSON API over small indexes of real models: answers and explanations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from vse_zoo.search import Calibration, Index
from vse_zoo.search.calibration import LENGTHS, Curve

pytest.importorskip("starlette", reason="pip install 'vse-zoo[serve]'")
from vse_zoo.search.web import service

GRID = 2, 3
PHOTOS = 8
every_kind = pytest.mark.parametrize("index", ["sum", "mean", "attention"], indirect=True)


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


def test_photos_that_were_moved_are_said(
    client: Any, index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = {"q": "a red dog", "k": 3}
    assert client.get("/api/search", params=asked).json()["notice"] is None
    monkeypatch.setattr(index, "settings", index.settings.model_copy(update={"photos": str(tmp_path / "gone")}))
    answer = client.get("/api/search", params=asked).json()
    assert answer["notice"].startswith("The folder of the photos is no longer where it was indexed.")
    assert answer["notice"].endswith("vse-zoo index NEW --out INDEX")
    assert str(tmp_path) not in answer["notice"], "where the folder was is nobody's business"
    assert len(answer["results"]) == 3


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


@every_kind
@pytest.mark.filterwarnings("error:You are using a softmax")
@pytest.mark.parametrize("query", ["a red dog", "Ein  ROTER Hund, zebra!", "dog"])
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
        assert len(found["heads"]) == (2 if found["method"] == "attention" else 0)
        for head in found["heads"]:
            assert sum(head["regions"]) == pytest.approx(1, abs=1e-4)
            assert sum(head["words"]) == pytest.approx(1, abs=1e-4)


def test_the_description_names_every_answer(client: Any) -> None:
    described = client.get("/api/openapi.json").json()
    assert set(described["paths"]) == {
        *("/api/index", "/api/search", "/api/explain", "/api/thumbnail/{photo}", "/api/photo/{photo}")
    }
    assert "413" in described["paths"]["/api/search"]["post"]["responses"]


def test_a_photo_is_looked_at_once(client: Any, index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    looked = service.look
    monkeypatch.setattr(service, "look", lambda encoder, picture: seen.append(picture) or looked(encoder, picture))
    first, second = index.search_text("a red dog", k=2).results
    answers = [
        client.get("/api/explain", params={"photo": result.key, "q": query}).json()
        for result in (first, second, first)
        for query in ("dog", "red dog", "dog")
    ]
    assert len(seen) == 2
    assert answers[0] == answers[2] == answers[6] == answers[8]
    assert answers[1] == answers[7]
    assert len({answer["score"] for answer in answers}) == 4
