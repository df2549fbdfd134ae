"""The Fisher layer against numerical derivatives of the likelihood and a naive float64 loop."""

from __future__ import annotations

from pathlib import Path

import keras
import numpy as np
import pytest
import tensorflow as tf
from scipy.optimize import approx_fprime

from vse_zoo.errors import DataError
from vse_zoo.features.fisher import FisherVectors, Mixture, fisher_matrix

V, D, K = 14, 4, 3
UNKNOWN_WORDS = (0, 1, 5)


def random_mixture(seed: int, gaussian: float, dim: int = D, components: int = K) -> Mixture:
    generator = np.random.default_rng(seed)
    shape = (components, dim)
    return Mixture(
        generator.dirichlet(np.full(components, 4.0)),
        generator.normal(size=shape),
        generator.uniform(0.5, 1.5, shape),
        generator.random(shape) < gaussian,
    )


def word_vectors() -> np.ndarray:
    return np.random.default_rng(1).normal(size=(V, D)).astype("float32")


def known() -> np.ndarray:
    return ~np.isin(np.arange(V), UNKNOWN_WORDS)


def sentences() -> np.ndarray:
    """Padded ids; row 1 has unknown words only, row 2 none."""
    ids = np.random.default_rng(2).integers(1, V, (6, 8)).astype("int32")
    ids[:, 6:] = 0
    ids[1], ids[2], ids[3, 1:] = [1, 5, 1, 0, 0, 0, 0, 0], 0, 0
    return ids


MIXTURES = [random_mixture(3, 1.0), random_mixture(4, 0.5), random_mixture(5, 0.0)]


@pytest.fixture(scope="module")
def layer() -> FisherVectors:
    layer = FisherVectors(V, D, K, mixtures=len(MIXTURES))
    layer.adapt(word_vectors(), known(), MIXTURES)
    return layer


def naive(mixture: Mixture, words: np.ndarray) -> np.ndarray:
    """The mean gradient of (T, D) words, number by number in float64."""
    total = np.zeros((2, *mixture.locations.shape))
    for word in words.astype(np.float64):
        gamma = mixture.responsibilities(word[None])[0]
        for k, d in np.ndindex(*mixture.locations.shape):
            z = (word[d] - mixture.locations[k, d]) / mixture.scales[k, d]
            root = np.sqrt(mixture.weights[k])
            if mixture.gaussian[k, d]:
                total[:, k, d] += gamma[k] * np.array([z, (z * z - 1) / np.sqrt(2)]) / root
            else:
                total[:, k, d] += gamma[k] * np.array([np.sign(z), abs(z) - 1]) / root
    return total / max(1, len(words))


def naive_fisher_vector(words: np.ndarray) -> np.ndarray:
    parts = []
    for mixture in MIXTURES:
        gradient = naive(mixture, words).ravel()
        power = np.sign(gradient) * np.sqrt(np.abs(gradient))
        parts.append(power / (np.linalg.norm(power) or 1.0))
    return np.concatenate(parts)


def known_words(ids: np.ndarray) -> np.ndarray:
    return word_vectors()[ids[known()[ids]]]


@pytest.mark.parametrize("number", range(len(MIXTURES)))
def test_gradients_equal_numerical_derivatives_of_the_likelihood(layer: FisherVectors, number: int) -> None:
    """Central differences of the mean log-likelihood in float64, in units of the Fisher information."""
    mixture, ids = MIXTURES[number], sentences()[0]
    words = known_words(ids).astype(np.float64)

    def likelihood(parameters: np.ndarray) -> float:
        locations, scales = parameters.reshape(2, K, D)
        return float(Mixture(mixture.weights, locations, scales, mixture.gaussian).log_density(words).mean())

    point = np.stack([mixture.locations, mixture.scales]).ravel()
    forward, backward = (approx_fprime(point, likelihood, step) for step in (1e-6, -1e-6))
    derivatives = ((forward + backward) / 2).reshape(2, K, D)
    information = mixture.weights[:, None] * np.where([[[False]], [[True]]] & mixture.gaussian, 2.0, 1.0)
    expected = derivatives * mixture.scales / np.sqrt(information)
    np.testing.assert_allclose(naive(mixture, words), expected, atol=1e-8)
    actual = layer.gradients(ids[None])[0, number]
    np.testing.assert_allclose(actual, expected.ravel(), atol=1e-5 * np.abs(expected).max())


def test_equals_the_naive_loop(layer: FisherVectors) -> None:
    expected = np.stack([naive_fisher_vector(known_words(ids)) for ids in sentences()])
    actual = layer(sentences())
    assert actual.dtype == tf.float32
    np.testing.assert_allclose(actual, expected, atol=1e-5)
    lengths = np.linalg.norm(np.reshape(actual, (6, len(MIXTURES), -1)), axis=2)
    real = np.array([1, 0, 0, 1, 1, 1])[:, None]
    np.testing.assert_allclose(lengths, np.broadcast_to(real, lengths.shape), atol=1e-6)


def test_a_sentence_without_known_words_is_zero(layer: FisherVectors) -> None:
    assert not np.any(layer(sentences())[1:3])


def test_padding_and_unknown_words_change_nothing(layer: FisherVectors) -> None:
    ids = sentences()
    longer = np.concatenate([ids, np.zeros((6, 9), np.int32)], axis=1)
    longer[0, -3:] = 1, 5, 1
    np.testing.assert_array_equal(layer(longer), layer(ids))
    np.testing.assert_allclose(layer(ids[4:5]), layer(ids)[4:5], atol=1e-6)


def test_a_new_layer_knows_no_words_and_is_finite() -> None:
    assert not np.any(FisherVectors(V, D, K)(sentences()))


def test_components_of_no_weight_and_far_words_stay_finite() -> None:
    mixture = Mixture([1 - 1e-200, 1e-200], [[0.0], [0.0]], [[1e-6], [1.0]], [[True], [False]])
    layer = FisherVectors(4, 1, 2, mixtures=1)
    layer.adapt(np.array([[0], [0], [1e4], [-3]]), np.ones(4), [mixture])
    assert np.isfinite(layer(np.array([[2, 3], [3, 0]]))).all()


def test_the_papers_sizes() -> None:
    layer = FisherVectors(5, 300)
    mixtures = [random_mixture(6, 1.0, 300, 30), random_mixture(7, 0.5, 300, 30)]
    layer.adapt(np.random.default_rng(8).normal(size=(5, 300)), np.ones(5), mixtures)
    vectors = layer(np.array([[1, 2, 0], [3, 4, 4]]))
    assert vectors.shape == (2, 36_000)
    assert layer.size == 36_000
    np.testing.assert_allclose(np.linalg.norm(vectors[:, :18_000], axis=1), 1, atol=1e-5)


def test_mixed_precision_computes_in_float32(layer: FisherVectors) -> None:
    mixed = FisherVectors(V, D, K, mixtures=len(MIXTURES), dtype="mixed_float16")
    mixed.adapt(word_vectors(), known(), MIXTURES)
    assert {weight.dtype for weight in mixed.weights} == {"float32", "bool"}
    np.testing.assert_array_equal(mixed(sentences()), layer(sentences()))


def test_survives_a_keras_file_and_its_config(layer: FisherVectors, tmp_path: Path) -> None:
    ids = keras.Input((None,), dtype="int32", name="ids")
    model = keras.Model(ids, layer(ids))
    assert model.output_shape == (None, layer.size)
    model.save(tmp_path / "model.keras")
    copy = keras.saving.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(copy(sentences()), layer(sentences()))
    assert FisherVectors.from_config(layer.get_config()).get_config() == layer.get_config()


def test_survives_a_saved_model(layer: FisherVectors, tmp_path: Path) -> None:
    archive = keras.export.ExportArchive()
    archive.track(layer)
    archive.add_endpoint("serve", layer.call, [tf.TensorSpec((None, None), tf.int32, "ids")])
    archive.write_out(str(tmp_path / "saved"), verbose=False)
    loaded = tf.saved_model.load(str(tmp_path / "saved"))
    np.testing.assert_allclose(loaded.serve(sentences()), layer(sentences()), atol=1e-6)


def test_trains_below_a_dense_layer(layer: FisherVectors) -> None:
    model = keras.Sequential([layer, keras.layers.Dense(2)])
    model.compile("sgd", "mse")
    before = layer.get_weights()
    history = model.fit(sentences(), np.ones((6, 2)), epochs=3, verbose=0)
    assert history.history["loss"][-1] < history.history["loss"][0]
    for one, other in zip(layer.get_weights(), before, strict=True):
        np.testing.assert_array_equal(one, other)


def test_shapes_that_do_not_fit_are_refused() -> None:
    layer = FisherVectors(V, D, K, mixtures=1)
    with pytest.raises(DataError, match=r"expected \(14, 4\) and \(14,\)"):
        layer.adapt(np.zeros((V, 3)), known(), MIXTURES[:1])
    with pytest.raises(DataError, match=r"found mixtures of .* \[\(3, 4\), \(3, 4\)\], expected \[\(3, 4\)\]"):
        layer.adapt(word_vectors(), known(), MIXTURES[:2])
    with pytest.raises(ValueError, match="at least 1, got 14, 4, 0 and 2"):
        FisherVectors(V, D, 0)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_the_matrix_of_many_sentences(layer: FisherVectors, tmp_path: Path, dtype: str) -> None:
    ids = sentences()
    lists = [row[row > 0].tolist() for row in ids]
    matrix = fisher_matrix(lists, layer, tmp_path / "fisher.npy", chunk=4, dtype=dtype)
    assert isinstance(matrix, np.memmap)
    assert matrix.dtype == dtype
    np.testing.assert_allclose(matrix, layer(ids), atol=5e-4 if dtype == "float16" else 1e-6)
    again = fisher_matrix(ids, layer, tmp_path / "again.npy", dtype=dtype)
    np.testing.assert_allclose(again, matrix, atol=1e-3 if dtype == "float16" else 1e-6)
    np.testing.assert_array_equal(np.load(tmp_path / "fisher.npy"), matrix)


def test_the_matrix_is_written_whole_or_not_at_all(layer: FisherVectors, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"fisher\.npy: there are no sentences"):
        fisher_matrix([], layer, tmp_path / "fisher.npy")
    with pytest.raises(tf.errors.InvalidArgumentError):
        fisher_matrix([[2, 3], [V]], layer, tmp_path / "fisher.npy", chunk=1)
    assert not list(tmp_path.iterdir())
