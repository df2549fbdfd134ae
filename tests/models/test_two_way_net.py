"""TwoWayNet against a float64 NumPy version of the paper's equations, written from the paper's text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

from vse_zoo import presets
from vse_zoo.errors import DataError
from vse_zoo.features.fisher import FisherVectors
from vse_zoo.losses import ContrastiveLoss, Decorrelation
from vse_zoo.models import TwoWayNet
from vse_zoo.preprocessing import TextPreprocessor

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(16, 6)).astype("float32")
Y = RANDOM.normal(size=(16, 4)).astype("float32")
BATCH = {"x": tf.constant(X), "y": tf.constant(Y)}
SIZES = (6, 5, 3, 8, 4)


def create(**options: Any) -> TwoWayNet:
    """6–[5, 3, 8]–4 with biases that aren't zero."""
    keras.utils.set_random_seed(1)
    model = TwoWayNet(SIZES[1:-1], 6, 4, **{"dropout": 0.0, **options})
    model.build()
    for weight in model.trainable_weights:
        if weight.name.endswith("bias"):
            weight.assign(RANDOM.normal(size=weight.shape))
    return model


def hidden(values: np.ndarray, norm: Any) -> np.ndarray:
    """Leaky ReLU of slope 0.3, then batch normalisation."""
    values = np.where(values > 0, values, 0.3 * values)
    scaled = (values - values.mean(0)) / np.sqrt(values.var(0) + 1e-3)
    return scaled * norm.gamma.numpy() + norm.beta.numpy()


def naive(model: TwoWayNet) -> dict[str, np.ndarray]:
    """H and Ĥ, layer by layer: h_i = Φ(W x + b₂), ĥ_i = Φ(Wᵀ y + b₁) in reverse order."""
    maps, norms = model.channels.maps, model.channels.norms
    kernels = [layer.kernel.numpy().astype(np.float64) for layer in maps]
    forward, backward = {0: X.astype(np.float64)}, {4: Y.astype(np.float64)}
    for i, kernel in enumerate(kernels, 1):
        values = forward[i - 1] @ kernel + maps[i - 1].bias.numpy()
        forward[i] = hidden(values, norms[i - 1].norms[0]) if i < 4 else values
    for i in (3, 2, 1, 0):
        values = backward[i + 1] @ kernels[i].T + maps[i].reverse_bias.numpy()
        backward[i] = hidden(values, norms[i - 1].norms[1]) if i > 0 else values
    return {"h": forward[2], "g": backward[2], "y_reconstructed": forward[4], "x_reconstructed": backward[0]}


def squared(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.mean([np.linalg.norm(one - other) ** 2 for one, other in zip(a, b, strict=True)]))


def test_both_channels_are_the_papers() -> None:
    model = create()
    outputs = model(BATCH, training=True)
    for name, expected in naive(model).items():
        np.testing.assert_allclose(outputs[name], expected, atol=2e-5, err_msg=name)


def test_the_loss_is_the_papers_with_every_weight() -> None:
    model = create(
        reconstruction_weight=0.7, mid_weight=0.5, decorrelation_weight=0.25, weight_decay=0.01, gamma_strength=0.03
    )
    loss = model.compute_loss(BATCH, y_pred=model(BATCH, training=True))
    expected = naive(model)
    h, g = expected["h"], expected["g"]
    total = 0.7 * (squared(X, expected["x_reconstructed"]) + squared(Y, expected["y_reconstructed"]))
    total += 0.5 * squared(h, g)
    for view in (h, g):
        covariance = view.T @ view / len(view)
        total += 0.25 * 0.5 * (np.sum(covariance**2) - np.sum(np.diag(covariance) ** 2))
    total += 0.01 * sum(np.sum(layer.kernel.numpy().astype(np.float64) ** 2) for layer in model.channels.maps)
    gammas = [norm.gamma.numpy().astype(np.float64) for level in model.channels.norms for norm in level.norms]
    total += 0.03 * sum(np.sum(1 / gamma**2) for gamma in gammas)
    np.testing.assert_allclose(loss, total, rtol=1e-5)
    np.testing.assert_allclose(model.loss_parts["mid"].result(), squared(h, g), rtol=1e-5)


def test_a_ranking_loss_may_be_added_on_the_correlations() -> None:
    nothing = ("reconstruction_weight", "mid_weight", "decorrelation_weight", "weight_decay", "gamma_strength")
    model = create(ranking_weight=2.0, ranking_loss=ContrastiveLoss(0.1), **dict.fromkeys(nothing, 0.0))
    outputs = model(BATCH, training=True)
    scores = np.corrcoef(outputs["h"], outputs["g"])[:16, 16:]
    logits = scores.astype(np.float64) / 0.1
    parts = [np.log(np.exp(logits).sum(axis)) - np.diag(logits) for axis in (0, 1)]
    np.testing.assert_allclose(model.compute_loss(BATCH, y_pred=outputs), 2 * np.mean(sum(parts)) / 2, rtol=1e-4)


def test_each_channel_is_the_others_transpose() -> None:
    """Three kernels in all, each in both channels: its gradient is the sum of two."""
    model = create()
    kernels = [weight for weight in model.trainable_weights if "kernel" in weight.name]
    assert [tuple(kernel.shape) for kernel in kernels] == [(6, 5), (5, 3), (3, 8), (8, 4)]
    untied = create(tied=False)
    assert len([weight for weight in untied.trainable_weights if "kernel" in weight.name]) == 8


@pytest.mark.parametrize(("hidden_sizes", "expected"), [((5,), 1), ((5, 3, 8), 2), ((9, 8, 7, 6, 5), 3), ((5, 3), 2)])
def test_the_representation_is_half_way(hidden_sizes: tuple[int, ...], expected: int) -> None:
    model = TwoWayNet(hidden_sizes, 6, 4)
    assert model.channels.architecture.position == expected
    model.build()
    assert model.encode_x(X).shape == model.encode_y(Y).shape == (16, hidden_sizes[expected - 1])


def test_the_position_may_be_any_hidden_layer() -> None:
    for position, size in enumerate(SIZES[1:-1], 1):
        model = create(position=position)
        outputs = model(BATCH)
        np.testing.assert_allclose(model.encode_x(X), outputs["h"], atol=1e-5)
        np.testing.assert_allclose(model.encode_y(Y), outputs["g"], atol=1e-5)
        np.testing.assert_allclose(model.reconstruct_x(Y), outputs["x_reconstructed"], atol=1e-5)
        np.testing.assert_allclose(model.reconstruct_y(X), outputs["y_reconstructed"], atol=1e-5)
        assert outputs["h"].shape == (16, size)


def test_similarity_is_the_correlation_of_mid_representations() -> None:
    model = create()
    h, g = model.encode_x(X), model.encode_y(Y[:5])
    expected = np.corrcoef(h, g)[:16, 16:]
    np.testing.assert_allclose(model.similarity(h, g), expected, atol=1e-5)


def test_tied_dropout_silences_the_same_neurons_in_both_channels() -> None:
    outputs = create(dropout=0.5)(BATCH, training=True)
    silent = outputs["h"].numpy() == 0
    assert 0 < silent.mean() < 1
    np.testing.assert_array_equal(silent, outputs["g"].numpy() == 0)
    ordinary = create(dropout=0.5, tied_dropout=False)(BATCH, training=True)
    assert not np.array_equal(ordinary["h"].numpy() == 0, ordinary["g"].numpy() == 0)


def test_standardised_views_are_reconstructed_in_their_own_units() -> None:
    model = create()
    model.adapt(10 * X + 3, 0.01 * Y)
    plain = create()
    for weight, other in zip(plain.channels.weights, model.channels.weights, strict=True):
        weight.assign(other)
    scaled = [(view - view.mean(0)) / (view.std(0) + 1e-3) for view in (10 * X + 3, 0.01 * Y)]
    np.testing.assert_allclose(model.encode_x(10 * X + 3), plain.encode_x(scaled[0]), atol=1e-4)
    expected = plain.reconstruct_y(scaled[0]) * ((0.01 * Y).std(0) + 1e-3) + (0.01 * Y).mean(0)
    np.testing.assert_allclose(model.reconstruct_y(10 * X + 3), expected, atol=1e-5)


def test_principal_components_may_stand_for_a_wide_view() -> None:
    model = create(y_components=2)
    model.adapt(X, Y)
    assert model.channels.maps[-1].kernel.shape == (8, 2)
    assert model.encode_y(Y).shape == (16, 3)
    assert model.reconstruct_y(X).shape == (16, 4)


def test_dropped_inputs_are_compared_with_whole_views() -> None:
    outputs = create(input_dropout=0.5)(BATCH, training=True)
    np.testing.assert_array_equal(outputs["x"], X)
    whole = create()(BATCH, training=True)
    assert not np.allclose(outputs["h"], whole["h"])


def test_trains_with_fit() -> None:
    model = create(dropout=0.2)
    model.compile(keras.optimizers.SGD(1e-2, momentum=0.9, nesterov=True))
    dataset = tf.data.Dataset.from_tensors(BATCH).repeat()
    history = model.fit(dataset, steps_per_epoch=20, epochs=3, verbose=0).history
    assert history["loss"][-1] < history["loss"][0]
    assert {"mid", "decorrelation", "reconstruction_x", "reconstruction_y"} <= set(history)


@pytest.mark.parametrize("tied", [True, False])
def test_a_preset_without_sentences_keeps_ties_and_every_number(tied: bool, tmp_path: Path) -> None:
    model = create(tied=tied, parts=(1, 1, 1, 2), batch_norm="before", decorrelation=Decorrelation("norm"))
    presets.save(model, tmp_path / "net")
    loaded = presets.load(tmp_path / "net")
    assert loaded.channels.maps[0].tied is tied
    assert loaded.decorrelation.form == "norm"
    assert loaded.languages == presets.languages(tmp_path / "net") == ()
    np.testing.assert_array_equal(loaded.encode_x(X), model.encode_x(X))
    np.testing.assert_array_equal(loaded.reconstruct_x(Y), model.reconstruct_x(Y))


def test_survives_a_saved_model(tmp_path: Path) -> None:
    model = create()
    archive = keras.export.ExportArchive()
    archive.track(model)
    archive.add_endpoint("encode_y", model._encode_y, [tf.TensorSpec([None, 4], tf.float32)])
    archive.write_out(str(tmp_path / "saved"), verbose=False)
    loaded = tf.saved_model.load(str(tmp_path / "saved"))
    np.testing.assert_allclose(loaded.encode_y(Y), model.encode_y(Y), atol=1e-6)


def test_pictures_are_the_mean_of_their_real_regions() -> None:
    model = with_sentences()
    regions = RANDOM.normal(size=(3, 4, 6)).astype("float32")
    mask = np.array([[True] * 4, [True, True, False, False], [True, False, False, False]])
    means = np.stack([rows[real].mean(0) for rows, real in zip(regions, mask, strict=True)])
    expected = np.corrcoef(model.encode_x(means), model.encode_text(["a dog"]))[:3, 3:]
    np.testing.assert_allclose(
        model.similarity(model.encode_image(regions, mask), model.encode_text(["a dog"])), expected, atol=1e-5
    )


def with_sentences() -> TwoWayNet:
    preprocessor = TextPreprocessor({"en": ["a", "dog"]})
    sentences = FisherVectors(4, 3, components=2)
    sentences.known.assign([False, False, True, True])
    sentences.word_vectors.assign(RANDOM.normal(size=(4, 3)))
    model = TwoWayNet((5, 3, 8), 6, sentences.size, preprocessor=preprocessor, sentences=sentences)
    model.build()
    return model


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="position must be from 1 to 3"):
        create(position=4)
    with pytest.raises(ValueError, match="parts must have 4 numbers"):
        create(parts=(1, 2))
    with pytest.raises(ValueError, match="layer_sizes must be one size at least"):
        TwoWayNet((), 6, 4)
    with pytest.raises(ValueError, match=r"encode_x: found shape \(16, 4\), expected \(rows, 6\)"):
        create().encode_x(Y)
    with pytest.raises(DataError, match="made for two matrices, and takes no sentences"):
        create().encode_text(["a dog"])
    preprocessor = TextPreprocessor({"en": ["a"], "de": ["ein"]})
    with pytest.raises(ValueError, match="preprocessor and sentences go together"):
        TwoWayNet((5,), 6, 4, preprocessor=preprocessor)
    with pytest.raises(ValueError, match="preprocessor must have one language, found en, de"):
        TwoWayNet((5,), 6, 12, preprocessor=preprocessor, sentences=FisherVectors(3, 3, 1))
    with pytest.raises(ValueError, match="y_dim must be the Fisher vectors' size, 12, got 4"):
        TwoWayNet((5,), 6, 4, preprocessor=TextPreprocessor({"en": ["a"]}), sentences=FisherVectors(3, 3, 1))
