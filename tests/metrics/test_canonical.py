"""The canonical correlation sum against a closed form, scikit-learn and cca-zoo."""

from __future__ import annotations

import keras
import numpy as np
import pytest
import scipy.linalg
import tensorflow as tf
from sklearn.cross_decomposition import CCA

from vse_zoo.errors import EvaluationError
from vse_zoo.metrics import CanonicalCorrelation

Views = tuple[np.ndarray, np.ndarray]


def views(rows: int, seed: int, d: int = 6, e: int = 4) -> Views:
    """Two views of the same four latent values, different rows for different seeds."""
    h_map, g_map = (np.random.default_rng(9).normal(size=(4, size)) for size in (d, e))
    generator = np.random.default_rng(seed)
    latent = generator.normal(size=(rows, 4)) * [1, 2, 0.5, 1]
    h_noise, g_noise = (generator.normal(size=(rows, size)) for size in (d, e))
    return latent @ h_map + h_noise, latent @ g_map + g_noise


def figure(train: Views, test: Views, size: int = 50) -> float:
    metric = CanonicalCorrelation()
    for add, (h, g) in ((metric.fit_state, train), (metric.update_state, test)):
        for start in range(0, len(h), size):
            add(h[start : start + size], g[start : start + size])
    return float(metric.result())


def closed_form(train: Views, test: Views) -> float:
    """Singular vectors of the whitened cross-covariance, with Cholesky factors."""
    h, g = (view - view.mean(axis=0) for view in train)
    h_root, g_root = (np.linalg.inv(np.linalg.cholesky(view.T @ view)) for view in (h, g))
    u, _, vt = scipy.linalg.svd(h_root @ h.T @ g @ g_root.T, full_matrices=False)
    return paired_sum(test[0] @ h_root.T @ u, test[1] @ g_root.T @ vt.T)


def paired_sum(a: np.ndarray, b: np.ndarray) -> float:
    return sum(float(np.corrcoef(a[:, k], b[:, k])[0, 1]) for k in range(min(a.shape[1], b.shape[1])))


@pytest.mark.parametrize("size", [1, 37, 300])
@pytest.mark.parametrize("sizes", [(6, 4), (4, 6), (5, 5)])
def test_equals_the_closed_form_whatever_the_batch_size(size: int, sizes: tuple[int, int]) -> None:
    train, test = views(90, 1, *sizes), views(60, 2, *sizes)
    assert figure(train, test, size) == pytest.approx(closed_form(train, test), abs=1e-10)


def test_on_its_own_training_rows_it_sums_the_singular_values() -> None:
    train = views(300, 1)
    h, g = (np.linalg.qr(view - view.mean(axis=0))[0] for view in train)
    assert figure(train, train) == pytest.approx(np.linalg.svd(h.T @ g)[1].sum(), abs=1e-10)


def test_equals_scikit_learns() -> None:
    train, test = views(300, 1), views(120, 2)
    fitted = CCA(n_components=4, tol=1e-12, max_iter=100_000).fit(*train)
    assert figure(train, test) == pytest.approx(paired_sum(*fitted.transform(*test)), abs=1e-6)


def test_equals_cca_zoos() -> None:
    linear = pytest.importorskip("cca_zoo.linear")
    train, test = views(300, 1), views(120, 2)
    fitted = linear.CCA(4).fit(list(train))
    assert figure(train, test) == pytest.approx(paired_sum(*fitted.transform(list(test))), abs=1e-8)


def test_a_linear_map_of_a_view_changes_nothing() -> None:
    train, test = views(300, 1), views(120, 2)
    mixing = np.random.default_rng(3).normal(size=(6, 6))
    mapped = [(h @ mixing + 5, g * [1e-6, 1, 1e6, 3]) for h, g in (train, test)]
    assert figure(*mapped) == pytest.approx(figure(train, test), abs=1e-8)


def test_a_large_offset_costs_no_digits() -> None:
    train, test = views(300, 1), views(120, 2)
    moved = [(h + 1e6, g - 3e6) for h, g in (train, test)]
    assert figure(*moved, size=7) == pytest.approx(figure(train, test), abs=1e-7)


def test_copies_and_constants_add_nothing() -> None:
    train, test = views(300, 1), views(120, 2)
    padded = [(np.column_stack([h, h[:, :2], h @ np.ones(6), np.full(len(h), 1e6 / 3)]), g) for h, g in (train, test)]
    assert figure(*padded) == pytest.approx(figure(train, test), abs=1e-8)


def test_a_collapsed_representation_scores_its_true_directions() -> None:
    """What the sum of neuron correlations misses: five copies of one neuron share one direction."""
    train, test = (tuple(np.repeat(view[:, :1], 5, axis=1) for view in views(rows, rows)) for rows in (300, 120))
    expected = np.corrcoef(test[0][:, 0], test[1][:, 0])[0, 1]
    assert abs(figure(train, test)) == pytest.approx(abs(expected), abs=1e-10)
    noisy = [tuple(view.astype("float32") for view in pair) for pair in (train, test)]
    assert abs(figure(*noisy)) == pytest.approx(abs(expected), abs=1e-5)


def test_constant_representations_share_nothing() -> None:
    constant = np.full((50, 3), 0.1), np.full((50, 3), 7.0)
    assert figure(constant, constant, 7) == 0
    train, test = views(300, 1), (np.full((120, 6), 0.1), views(120, 2)[1])
    assert figure(train, test) == pytest.approx(0, abs=1e-12)


def test_unrelated_views_score_nothing_on_other_rows() -> None:
    generator = np.random.default_rng(4)
    train, test = ((generator.normal(size=(rows, 20)), generator.normal(size=(rows, 20))) for rows in (60, 5000))
    assert figure(train, train) > 8
    assert abs(figure(train, test)) < 1


def test_keras_resets_the_measured_rows_only() -> None:
    train, test = views(300, 1), views(120, 2)
    metric = CanonicalCorrelation()
    metric.fit_state(*train)
    metric.update_state(*views(80, 5))
    metric.reset_state()
    metric.update_state(*test)
    assert float(metric.result()) == pytest.approx(figure(train, test), abs=1e-10)
    metric.reset_fit()
    metric.fit_state(*views(200, 6))
    assert float(metric.result()) == pytest.approx(figure(views(200, 6), test), abs=1e-10)


def test_measures_inside_a_graph() -> None:
    train, test = views(300, 1), views(120, 2)
    metric = CanonicalCorrelation()
    metric.fit_state(*train)

    @tf.function
    def step(h: tf.Tensor, g: tf.Tensor) -> tf.Tensor:
        metric.update_state(h, g)
        return metric.result()

    assert np.isnan(step(test[0][:5], test[1][:5]))
    assert float(step(test[0][5:], test[1][5:])) == pytest.approx(figure(train, test), abs=1e-10)


def test_what_is_missing_is_an_error_that_says_so() -> None:
    metric = CanonicalCorrelation()
    metric.update_state(*views(50, 1))
    with pytest.raises(EvaluationError, match=r"fit_state was never called\. Call fit_state\(h, g\)"):
        metric.result()
    metric = CanonicalCorrelation()
    metric.fit_state(*views(50, 1))
    with pytest.raises(EvaluationError, match=r"update_state was never called"):
        metric.result()


@pytest.mark.parametrize(("train", "test", "kind"), [(6, 50, "training"), (50, 6, "measured")])
def test_fewer_rows_than_neurons_is_an_error_that_says_so(train: int, test: int, kind: str) -> None:
    with pytest.raises(EvaluationError, match=f"found 6 {kind} rows, expected more than 6, the number of neurons"):
        figure(views(train, 1), views(test, 2))


def test_other_widths_are_an_error() -> None:
    metric = CanonicalCorrelation()
    metric.fit_state(*views(50, 1))
    with pytest.raises(EvaluationError, match=r"found h of 4 neurons, before it had 6"):
        metric.update_state(*views(50, 1, 4, 6))


def test_survives_its_config() -> None:
    metric = CanonicalCorrelation(tolerance=1e-8)
    copy = keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(metric))
    assert copy.get_config() == metric.get_config()
    assert copy.tolerance == 1e-8
