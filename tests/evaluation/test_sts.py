"""STS figures against SciPy and against the textbook's sums, and encoders from which there are none."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from vse_zoo.errors import EvaluationError
from vse_zoo.evaluation.sts import STSFigures, evaluate_sts, mean_of, sentence_encoder, sts_as_dict
from vse_zoo.sets import ItemSets

PAIRS = 40


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Forty pairs of numbers for sentences, every fourth without a score; scores have ties."""
    random = np.random.default_rng(0)
    pairs = random.integers(0, 30, (PAIRS, 2))
    scores = ["" if row % 4 == 3 else f"{random.integers(0, 11) / 2}" for row in range(PAIRS)]
    (tmp_path / "STS.input.x.txt").write_text("".join(f"s {a}\ts {b}\n" for a, b in pairs))
    (tmp_path / "STS.gs.x.txt").write_text("".join(f"{score}\n" for score in scores))
    return tmp_path


TABLE = np.random.default_rng(1).normal(size=(30, 6)).astype(np.float32) * 7


def encode(sentences: Sequence[str]) -> NDArray[Any]:
    return TABLE[[int(sentence.split()[1]) for sentence in sentences]]


def naive(folder: Path) -> tuple[list[float], list[float]]:
    """Cosines and gold scores, pair by pair."""
    cosines, gold = [], []
    sentences, scores = ((folder / f"STS.{kind}.x.txt").read_text().split("\n") for kind in ("input", "gs"))
    for line, score in zip(sentences, scores, strict=True):
        if score:
            a, b = (TABLE[int(sentence.split()[1])].astype(float) for sentence in line.split("\t"))
            cosines.append(sum(a * b) / math.sqrt(sum(a * a) * sum(b * b)))
            gold.append(float(score))
    return cosines, gold


def test_figures_equal_scipys(folder: Path) -> None:
    cosines, gold = naive(folder)
    found = evaluate_sts(encode, folder)["x"]
    assert (found.pairs, found.skipped) == (30, 10)
    assert found.pearson == pytest.approx(stats.pearsonr(cosines, gold).statistic, abs=1e-6)
    assert found.spearman == pytest.approx(stats.spearmanr(cosines, gold).statistic, abs=1e-6)


def test_figures_equal_the_textbooks(folder: Path) -> None:
    cosines, gold = naive(folder)
    found = evaluate_sts(encode, folder)["x"]
    assert found.pearson == pytest.approx(_textbook(cosines, gold), abs=1e-6)
    ranked = [[sum(b < a for b in side) + (side.count(a) + 1) / 2 for a in side] for side in (cosines, gold)]
    assert found.spearman == pytest.approx(_textbook(*ranked), abs=1e-6)


def _textbook(x: list[float], y: list[float]) -> float:
    mean = [sum(side) / len(side) for side in (x, y)]
    covariance = sum((a - mean[0]) * (b - mean[1]) for a, b in zip(x, y, strict=True))
    return covariance / math.sqrt(sum((a - mean[0]) ** 2 for a in x) * sum((b - mean[1]) ** 2 for b in y))


def test_each_sentence_is_encoded_once(folder: Path) -> None:
    asked: list[str] = []

    def recorded(sentences: Sequence[str]) -> NDArray[Any]:
        asked.extend(sentences)
        return encode(sentences)

    evaluate_sts(recorded, folder)
    assert len(asked) == len(set(asked)) > 15


def test_the_order_that_people_give_has_r_of_one(tmp_path: Path) -> None:
    angles = np.arccos(np.linspace(0, 1, 6))
    (tmp_path / "STS.input.x.txt").write_text("".join(f"base\t{row}\n" for row in range(6)))
    (tmp_path / "STS.gs.x.txt").write_text("".join(f"{row}\n" for row in range(6)))

    def planted(sentences: Sequence[str]) -> NDArray[Any]:
        turns = np.array([0 if sentence == "base" else angles[int(sentence)] for sentence in sentences])
        return np.stack([np.cos(turns), np.sin(turns)], axis=1) * 3

    found = evaluate_sts(planted, tmp_path)["x"]
    assert (found.pearson, found.spearman) == (pytest.approx(1), pytest.approx(1))


def test_a_zero_vector_has_cosine_zero(tmp_path: Path) -> None:
    (tmp_path / "STS.input.x.txt").write_text("a\tb\na\tzero\na\ta\n")
    (tmp_path / "STS.gs.x.txt").write_text("0\n1\n5\n")
    vectors = {"a": [1.0, 0.0], "b": [-1.0, 0.0], "zero": [0.0, 0.0]}
    found = evaluate_sts(lambda sentences: [vectors[sentence] for sentence in sentences], tmp_path)["x"]
    assert found.pearson == pytest.approx(stats.pearsonr([-1, 0, 1], [0, 1, 5]).statistic)


@pytest.mark.parametrize(
    ("encoder", "problem"),
    [
        (lambda sentences: np.full((len(sentences), 3), 0.3), r"x\.txt: all 30 cosines are 1, .* tells no sentences"),
        (lambda sentences: np.full((len(sentences), 3), np.nan), r"embeddings of STS\.input\.x\.txt, row 0: holds NaN"),
        (lambda sentences: np.zeros((2, 3)), "found 2 embeddings of .* sentences, expected one each"),
        (lambda sentences: np.zeros(len(sentences)), "expected \\(rows, dimensions\\)"),
    ],
)
def test_refuses_embeddings_without_a_correlation(folder: Path, encoder: Any, problem: str) -> None:
    with pytest.raises(EvaluationError, match=problem):
        evaluate_sts(encoder, folder)


@pytest.mark.parametrize(
    ("gold", "found"), [("\n\n", "0 pairs with 0"), ("3\n\n", "1 pairs with 1"), ("3\n3\n", "2 pairs with 1")]
)
def test_refuses_scores_without_a_correlation(tmp_path: Path, gold: str, found: str) -> None:
    (tmp_path / "STS.input.x.txt").write_text("s 1\ts 2\ns 3\ts 4\n")
    (tmp_path / "STS.gs.x.txt").write_text(gold)
    with pytest.raises(EvaluationError, match=f"found {found} different gold scores"):
        evaluate_sts(encode, tmp_path)


def model(languages: tuple[str, ...], kind: Any = np.asarray) -> Any:
    """A model that knows sentences such as "s 3"."""
    return SimpleNamespace(languages=languages, encode_text=lambda texts, language: kind(encode(texts)))


def sets(vectors: NDArray[Any]) -> ItemSets:
    """A set of one vector for each sentence."""
    return ItemSets(vectors, np.ones(len(vectors), np.int64))


def test_a_model_is_evaluated_like_its_encoder(folder: Path) -> None:
    assert evaluate_sts(sentence_encoder(model(("en", "de")), "de"), folder) == evaluate_sts(encode, folder)


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (model(("de", "fr")), "language: found 'en', the model knows de, fr"),
        (model(()), "found 'en', the model knows none, since it was made for two matrices"),
        (model(("en",), sets), "a sentence has no single vector"),
    ],
)
def test_models_without_sentence_vectors_are_refused(folder: Path, given: Any, problem: str) -> None:
    with pytest.raises(EvaluationError, match=problem):
        evaluate_sts(sentence_encoder(given), folder)


def test_the_mean_counts_files_alike() -> None:
    figures = {"a": STSFigures(10, 1, 0.25, 0.5), "b": STSFigures(30, 2, 0.75, 0.0)}
    assert mean_of(figures) == STSFigures(40, 3, 0.5, 0.25)
    found = sts_as_dict(figures, "en")
    assert found["mean"] == {"pearson": 0.5, "spearman": 0.25}
    assert found["files"]["b"] == {"pairs": 30, "skipped": 2, "pearson": 0.75, "spearman": 0.0}
