"""ContextAttentionVSE: its loss recomputed naively, training with standard callbacks, saving, encoding, padding."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

from vse_zoo.errors import DataError
from vse_zoo.losses import ContrastiveLoss, DiversityLoss, TripletLoss
from vse_zoo.models import ContextAttentionVSE
from vse_zoo.preprocessing import TextPreprocessor

DIM, REGIONS, BATCH = 5, 4, 6
VOCABULARIES = {"en": list("abcdefgh"), "de": list("klmnop"), "fr": list("uvwxyz")}
SENTENCES = ["a b c", "", "h", "a b c d e f g h a b", "g 🐶 g", "b a", "unknown words only", "c"]


def create(languages: str = "en de", seed: int = 0, **arguments: Any) -> ContextAttentionVSE:
    keras.utils.set_random_seed(seed)
    vocabularies = {language: VOCABULARIES[language] for language in languages.split()}
    sizes = {"units": 4, "heads": 3, "attention_dim": 3, "word_dim": 5, "region_activation": "tanh"}
    model = ContextAttentionVSE(TextPreprocessor(vocabularies), DIM, **{**sizes, **arguments})
    model.build()
    return model


def draw(languages: tuple[str, ...], seed: int = 0) -> dict[str, Any]:
    """A batch by the contract: padded regions and words, two pairs of one image, a missing caption a language."""
    generator = np.random.default_rng(seed)
    mask = generator.random((BATCH, REGIONS)) < 0.7
    mask[:, 0] = True
    batch: dict[str, Any] = {
        "regions": generator.normal(size=(BATCH, REGIONS, DIM)).astype("float32") * mask[..., None],
        "region_mask": mask,
        "image_id": np.array([3, 1, 3, 8, 2, 5], "int32"),
        "text": {},
        "text_mask": {},
    }
    for number, language in enumerate(languages):
        ids = generator.integers(1, 8, (BATCH, 5)).astype("int32")
        lengths = generator.integers(1, 6, BATCH)
        present = np.arange(BATCH) != number + 1
        lengths[~present], ids[~present, 0] = 1, 1
        batch["text"][language] = np.where(np.arange(5) < lengths[:, None], ids, 0)
        batch["text_mask"][language] = present
    return batch


def batches(languages: tuple[str, ...], count: int = 3) -> tf.data.Dataset:
    drawn = [draw(languages, seed) for seed in range(count)]
    return tf.data.Dataset.from_tensor_slices(tf.nest.map_structure(lambda *parts: np.stack(parts), *drawn))


def naive_loss(views: dict[str, np.ndarray], batch: dict[str, Any], model: ContextAttentionVSE) -> dict[str, float]:
    """Equations 2 to 4 on the heads, in float64, one triplet and one pair of heads at a time."""
    present = {"image": np.ones(BATCH, bool), **batch["text_mask"]}
    flat = {name: heads.reshape(BATCH, -1) for name, heads in views.items()}
    vectors = {name: rows / np.linalg.norm(rows, axis=1, keepdims=True) for name, rows in flat.items()}
    ranking = dict.fromkeys(combinations(views, 2), 0.0)
    for first, second in ranking:
        exists = present[first] & present[second]
        for p in np.flatnonzero(exists):
            scores = vectors[first] @ vectors[second].T
            others = batch["image_id"] != batch["image_id"][p]
            for candidates in (scores[p][others & present[second]], scores[:, p][others & present[first]]):
                ranking[first, second] += max([0.0, *(model.ranking_loss.margin - scores[p, p] + candidates)])
    diversity = 0.0
    units = {name: heads / np.linalg.norm(heads, axis=2, keepdims=True) for name, heads in views.items()}
    names = list(views)
    for first, second in [*combinations(names, 2), *((name, name) for name in names)]:
        for p in np.flatnonzero(present[first] & present[second]):
            cosines = units[first][p] @ units[second][p].T
            for k in range(model.heads):
                for r in set(range(model.heads)) - {k}:
                    diversity += max(0.0, cosines[k, r] - (1 - model.diversity_loss.margin))
    with_image = sum(value for pair, value in ranking.items() if "image" in pair)
    return {
        "ranking": with_image,
        "language_ranking": sum(ranking.values()) - with_image,
        "diversity": diversity,
    }


@pytest.mark.parametrize("languages", ["en", "en de", "en de fr"])
@pytest.mark.parametrize(("gamma", "beta"), [(0.6, 1.0), (2.0, 0.3)])
def test_the_loss_equals_equations_2_to_4(languages: str, gamma: float, beta: float) -> None:
    model = create(languages, language_weight=gamma, diversity_weight=beta, ranking_loss=TripletLoss(margin=0.5))
    batch = tf.nest.map_structure(tf.constant, draw(model.languages))
    views = model(batch)
    loss = model.compute_loss(x=batch, y_pred=views)
    double = {name: np.asarray(views[name], np.float64) for name in ("image", *model.languages)}
    parts = naive_loss(double, draw(model.languages), model)
    for name, expected in parts.items():
        np.testing.assert_allclose(model.loss_parts[name].result(), expected, rtol=1e-5, atol=1e-4)
    expected = parts["ranking"] + gamma * parts["language_ranking"] + beta * parts["diversity"]
    np.testing.assert_allclose(loss, expected, rtol=1e-5, atol=1e-4)
    assert parts["ranking"] > 0.1
    assert parts["diversity"] > 0.1


def test_there_are_six_diversity_terms_for_two_languages() -> None:
    """Heads that all agree: every ordered pair of heads of every term costs the margin."""
    model = create()
    batch = tf.nest.map_structure(tf.constant, draw(model.languages))
    batch["text_mask"] = {language: tf.ones(BATCH, tf.bool) for language in model.languages}
    views = {name: tf.ones((BATCH, 3, 4)) for name in ("image", "en", "de")}
    model.compute_loss(x=batch, y_pred=views)
    np.testing.assert_allclose(model.loss_parts["diversity"].result(), 6 * BATCH * 6 * 0.1, rtol=1e-5)


def test_regularization_losses_are_added() -> None:
    model = create(diversity_weight=0.0)
    batch = tf.nest.map_structure(tf.constant, draw(model.languages))
    views = model(batch)
    plain = float(model.compute_loss(x=batch, y_pred=views))
    model.image_encoder.perceptron.kernel.regularizer = keras.regularizers.L2(0.1)
    kernel = model.image_encoder.perceptron.kernel.numpy()
    np.testing.assert_allclose(model.compute_loss(x=batch, y_pred=views), plain + 0.1 * np.sum(kernel**2), rtol=1e-5)


def test_fit_runs_with_standard_callbacks(tmp_path: Path) -> None:
    model = create("en de", ranking_loss=TripletLoss(warmup_steps=3), dropout=0.1)
    model.compile(keras.optimizers.Adam(0.02, clipnorm=2.0), jit_compile=False)
    checkpoint = str(tmp_path / "best.weights.h5")
    callbacks = [
        keras.callbacks.ModelCheckpoint(checkpoint, monitor="val_loss", save_best_only=True, save_weights_only=True),
        keras.callbacks.EarlyStopping("val_loss", patience=50),
        keras.callbacks.CSVLogger(str(tmp_path / "log.csv")),
        keras.callbacks.LearningRateScheduler(lambda epoch, rate: rate),
        keras.callbacks.TerminateOnNaN(),
    ]
    data = batches(model.languages)
    history = model.fit(data, validation_data=data, epochs=3, verbose=0, callbacks=callbacks).history
    parts = {"loss", "ranking", "language_ranking", "diversity"}
    assert parts | {f"val_{name}" for name in parts} <= set(history)
    assert history["val_loss"][-1] < history["val_loss"][0]
    assert Path(checkpoint).is_file()
    scores = model.evaluate(data, verbose=0, return_dict=True)
    expected = scores["ranking"] + 0.6 * scores["language_ranking"] + scores["diversity"]
    np.testing.assert_allclose(scores["loss"], expected, rtol=1e-5)


def test_every_weight_of_three_languages_trains() -> None:
    model = create("en de fr", ranking_loss=ContrastiveLoss(learnable=True))
    model.compile(keras.optimizers.Adam(0.02), run_eagerly=True)
    before = [weight.numpy() for weight in model.trainable_variables]
    model.fit(batches(model.languages, count=1), epochs=2, verbose=0)
    for weight, old in zip(model.trainable_variables, before, strict=True):
        assert not np.array_equal(weight, old), f"{weight.path} did not train"


def test_the_warm_up_counts_optimizer_steps() -> None:
    model = create(ranking_loss=TripletLoss(warmup_steps=100), diversity_weight=0.0, language_weight=0.0)
    model.compile(keras.optimizers.SGD(0.0))
    batch = tf.nest.map_structure(tf.constant, draw(model.languages))
    views = model(batch)
    losses = {}
    for step in (0, 50, 100):
        model.optimizer.iterations.assign(step)
        losses[step] = float(model.compute_loss(x=batch, y_pred=views))
    assert losses[0] > losses[100]
    np.testing.assert_allclose(losses[50], (losses[0] + losses[100]) / 2, rtol=1e-5)


def trained() -> ContextAttentionVSE:
    """A model whose standardisation and temperature are not the initial ones."""
    ranking = ContrastiveLoss(learnable=True)
    model = create(ranking_loss=ranking, diversity_loss=DiversityLoss(0.2, "distance"), diversity_weight=0.5)
    ranking.log_temperature.assign(-1.0)
    regions, mask = images(seed=9)
    model.image_encoder.adapt(regions, mask)
    return model


def images(count: int = 7, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    mask = generator.random((count, REGIONS)) < 0.6
    mask[:, 0] = True
    return generator.normal(size=(count, REGIONS, DIM)).astype("float32"), mask


def test_a_keras_file_gives_an_equal_model(tmp_path: Path) -> None:
    model = trained()
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    assert isinstance(loaded, ContextAttentionVSE)
    assert loaded.get_config() == model.get_config()
    assert float(loaded.ranking_loss.log_temperature) == -1.0
    np.testing.assert_allclose(loaded.encode_image(*images()), model.encode_image(*images()), atol=1e-6)
    for language in model.languages:
        expected = model.encode_text(SENTENCES, language)
        np.testing.assert_allclose(loaded.encode_text(SENTENCES, language), expected, atol=1e-6)


def test_weights_give_an_equal_model(tmp_path: Path) -> None:
    model = trained()
    model.save_weights(tmp_path / "model.weights.h5")
    copy = ContextAttentionVSE.from_config(model.get_config())
    copy.build()
    assert not np.array_equal(copy.encode_image(*images()), model.encode_image(*images()))
    copy.load_weights(tmp_path / "model.weights.h5")
    np.testing.assert_allclose(copy.encode_image(*images()), model.encode_image(*images()), atol=1e-6)
    np.testing.assert_allclose(copy.encode_text(SENTENCES, "de"), model.encode_text(SENTENCES, "de"), atol=1e-6)


def test_texts_keep_their_order_and_equal_themselves_one_by_one() -> None:
    model = create()
    together = model.encode_text(SENTENCES, "en", batch_size=3)
    alone = np.stack([model.encode_text(sentence, "en") for sentence in SENTENCES])
    assert together.dtype == np.float32
    np.testing.assert_allclose(together, alone, atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1.0, atol=1e-6)


def test_images_equal_themselves_one_by_one_and_in_any_batch_size() -> None:
    model, (regions, mask) = create(), images()
    together = model.encode_image(regions, mask, batch_size=3)
    alone = np.stack([model.encode_image(image, own) for image, own in zip(regions, mask, strict=True)])
    np.testing.assert_allclose(together, alone, atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1.0, atol=1e-6)
    everything = np.ones_like(mask)
    np.testing.assert_allclose(model.encode_image(regions), model.encode_image(regions, everything), atol=1e-6)


def test_padding_changes_no_embedding() -> None:
    model, (regions, mask) = trained(), images()
    garbage = np.full((len(regions), 30, DIM), 50.0, "float32")
    longer = np.concatenate([regions, garbage], axis=1)
    longer_mask = np.concatenate([mask, np.zeros((len(mask), 30), bool)], axis=1)
    np.testing.assert_allclose(model.encode_image(longer, longer_mask), model.encode_image(regions, mask), atol=1e-6)
    ids = model.preprocessor(SENTENCES, "en")
    longer_ids = tf.pad(ids, [[0, 0], [0, 25]])
    np.testing.assert_allclose(model.embed_text(longer_ids, "en"), model.embed_text(ids, "en"), atol=1e-6)


def test_half_precision_regions_are_accepted() -> None:
    model, (regions, mask) = create(), images()
    half = regions.astype("float16")
    expected = model.encode_image(half.astype("float32"), mask)
    np.testing.assert_allclose(model.encode_image(half, mask), expected, atol=1e-6)


def test_similarity_is_the_cosine() -> None:
    model = create()
    pictures, texts = model.encode_image(*images()), model.encode_text(SENTENCES, "de")
    expected = [[float(np.dot(picture, text)) for text in texts] for picture in pictures]
    np.testing.assert_allclose(model.similarity(pictures, texts), expected, atol=1e-6)


def test_attention_is_a_distribution_over_real_regions_and_words() -> None:
    model, (regions, mask) = create(), images()
    weights = model.attend_image(regions, mask)
    assert weights.shape == (len(regions), 3, REGIONS)
    np.testing.assert_allclose(weights.sum(axis=2), 1.0, atol=1e-6)
    assert np.all(np.moveaxis(weights, 1, 2)[~mask] == 0)
    words, word_weights = model.attend_text(["a b c", ""], "en")
    assert words == [["a", "b", "c"], ["[UNK]"]]
    assert word_weights.shape == (2, 3, 3)
    assert np.all(word_weights[1, :, 1:] == 0)


def test_heads_are_means_of_what_is_attended() -> None:
    model, (regions, mask) = create(), images()
    for (items, weights), expected in (
        (model.attended_regions(regions, mask), model.encode_image(regions, mask)),
        (model.attended_words(SENTENCES, "de"), model.encode_text(SENTENCES, "de")),
    ):
        heads = (weights.astype(np.float64) @ items).reshape(len(items), -1)
        np.testing.assert_allclose(heads / np.linalg.norm(heads, axis=1, keepdims=True), expected, atol=1e-6)


def test_an_unknown_language_is_refused() -> None:
    with pytest.raises(DataError, match="'it', expected one of: en, de"):
        create().encode_text(["ciao"], "it")


def test_impossible_regions_and_texts_are_refused() -> None:
    model, (regions, mask) = create(), images()
    for wrong in (regions[..., :3], regions[0, 0], regions[:0]):
        with pytest.raises(ValueError, match="regions: found"):
            model.encode_image(wrong)
    for wrong_mask in (mask[:, :1], mask[:3]):
        with pytest.raises(ValueError, match="region_mask: found"):
            model.encode_image(regions, wrong_mask)
    with pytest.raises(ValueError, match="texts: found none"):
        model.encode_text([], "en")
