"""Correlation figures of a model on a two-view folder, against NumPy and scikit-learn."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.cross_decomposition import CCA

from vse_zoo.data import TwoViewData, write_two_view
from vse_zoo.errors import EvaluationError
from vse_zoo.evaluation.correlation import evaluate_correlation

DIM = 3


class Linear:
    """Two linear maps."""

    def __init__(self, dim: int = DIM) -> None:
        random = np.random.default_rng(0)
        self.x, self.y = random.normal(size=(4, dim)), random.normal(size=(5, dim))

    def encode_x(self, x: np.ndarray) -> np.ndarray:
        return x @ self.x

    def encode_y(self, y: np.ndarray) -> np.ndarray:
        return y @ self.y


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> TwoViewData:
    random = np.random.default_rng(1)
    splits = {}
    for split, rows in (("train", 300), ("test", 80)):
        shared = random.normal(size=(rows, 2))
        views = [np.hstack([shared, random.normal(size=(rows, extra))]).astype("float32") for extra in (2, 3)]
        splits[split] = (views[0], views[1])
    return write_two_view(tmp_path_factory.mktemp("views") / "data", splits, name="tiny", origin="drawn")


def test_equals_numpy_and_scikit_learn(data: TwoViewData) -> None:
    model = Linear()
    found = evaluate_correlation(model, data, "test")
    x, y = data.views("test")
    h, g = model.encode_x(x), model.encode_y(y)
    neuron = sum(np.corrcoef(h[:, k], g[:, k])[0, 1] for k in range(DIM))
    np.testing.assert_allclose(found.neuron, neuron, rtol=1e-6)
    x, y = data.views("train")
    cca = CCA(DIM, scale=False, max_iter=10_000, tol=1e-12).fit(model.encode_x(x), model.encode_y(y))
    projected = cca.transform(h, g)
    canonical = sum(np.corrcoef(projected[0][:, k], projected[1][:, k])[0, 1] for k in range(DIM))
    np.testing.assert_allclose(found.canonical, canonical, rtol=1e-4)
    np.testing.assert_allclose(found.variance, np.mean([h.var(0).mean(), g.var(0).mean()]), rtol=1e-6)
    ranks = []
    for view in (h, g):
        shares = np.linalg.eigvalsh(np.cov(view.T))
        shares = shares / shares.sum()
        ranks.append(np.exp(-np.sum(shares * np.log(shares))))
    np.testing.assert_allclose(found.effective_rank, np.mean(ranks), rtol=1e-5)
    assert list(found.as_dict()) == ["neuron", "canonical", "effective_rank", "directions", "variance"]


def test_too_few_rows_are_an_error(tmp_path: Path) -> None:
    rows = np.random.default_rng(2).normal(size=(3, 5)).astype("float32")
    data = write_two_view(tmp_path / "few", {"train": (rows[:, :4], rows)}, name="few", origin="drawn")
    with pytest.raises(EvaluationError, match="3"):
        evaluate_correlation(Linear(), data, "train")
