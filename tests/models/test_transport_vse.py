"""TransportVSE: its scores and its loss recomputed naively, training, saving, encoding, explaining."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

from vse_zoo import presets
from vse_zoo.losses import ContrastiveLoss, TripletLoss
from vse_zoo.models import TransportVSE
from vse_zoo.preprocessing import TextPreprocessor
from vse_zoo.sets import ItemSets

DIM, REGIONS, BATCH = 5, 4, 6
VOCABULARIES = {"en": list("abcdefgh"), "de": list("klmnop")}
SENTENCES = ["a b c", "", "h", "a b c d e f g h a b", "g 🐶 g", "b a", "c"]


def create(languages: str = "en de", **arguments: Any) -> TransportVSE:
    keras.utils.set_random_seed(0)
    vocabularies = {language: VOCABULARIES[language] for language in languages.split()}
    model = TransportVSE(TextPreprocessor(vocabularies), DIM, **{"units": 4, "word_dim": 4, **arguments})
    model.build()
    return model


def draw(languages: tuple[str, ...], seed: int = 0) -> dict[str, Any]:
    """A batch by the contract: padded regions and words, two pairs of one image, a missing caption a language."""
    random = np.random.default_rng(seed)
    mask = random.random((BATCH, REGIONS)) < 0.7
    mask[:, 0] = True
    batch: dict[str, Any] = {
        "regions": random.normal(size=(BATCH, REGIONS, DIM)).astype("float32"),
        "region_mask": mask,
        "image_id": np.array([3, 1, 3, 8, 2, 5], "int32"),
        "text": {},
        "text_mask": {},
    }
    for number, language in enumerate(languages):
        lengths = random.integers(1, 6, BATCH)
        batch["text"][language] = np.where(
            np.arange(5) < lengths[:, None], random.integers(1, 6, (BATCH, 5)), 0
        ).astype("int32")
        batch["text_mask"][language] = np.arange(BATCH) != number + 1
    return batch


def encoded(model: TransportVSE, batch: dict[str, Any]) -> dict[str, list[np.ndarray]]:
    """Every view's sets of real items, in float64; the GRU's states from its own layers, one direction at a time."""
    sets = {"image": [project(model.image_encoder, regions[mask]) for regions, mask in
                      zip(batch["regions"].astype(np.float64), batch["region_mask"], strict=True)]}  # fmt: skip
    for language, encoder in model.text_encoders.items():
        sets[language] = []
        for ids in batch["text"][language]:
            vectors = encoder.words.get_weights()[0][ids[ids > 0]]
            forward = gru(encoder.recurrence.forward_layer.cell, vectors)
            backward = gru(encoder.recurrence.backward_layer.cell, vectors[::-1])[::-1]
            states = (forward + backward) / 2
            sets[language].append(states + vectors if model.word_skip else states)
    return {
        name: [items / np.linalg.norm(items, axis=1, keepdims=True) for items in several]
        for name, several in sets.items()
    }


def project(encoder: Any, regions: np.ndarray) -> np.ndarray:
    """W f_k + b, and with context U times the mean region."""
    kernel, bias = encoder.projection.get_weights()
    context = regions.mean(axis=0) @ encoder.context_projection.get_weights()[0] if encoder.context else 0.0
    return regions @ kernel + bias + context


def gru(cell: Any, inputs: np.ndarray) -> np.ndarray:
    """Cho et al. (2014) with the reset gate after the product, as cuDNN has it."""
    kernel, recurrent, (bias, recurrent_bias) = (np.asarray(weight, np.float64) for weight in cell.get_weights())
    state, states = np.zeros(len(recurrent)), []
    for vector in inputs:
        z, r, h = np.split(vector @ kernel + bias, 3)
        hidden_z, hidden_r, hidden_h = np.split(state @ recurrent + recurrent_bias, 3)
        z, r = (1 / (1 + np.exp(-gate)) for gate in (z + hidden_z, r + hidden_r))
        state = z * state + (1 - z) * np.tanh(h + r * hidden_h)
        states.append(state)
    return np.stack(states)


def ipot(cost: np.ndarray, beta: float = 0.5, iterations: int = 20) -> np.ndarray:
    """Algorithm 1 of the paper, as printed."""
    rows, columns = cost.shape
    a, plan, b = np.exp(-cost / beta), np.ones_like(cost), np.full(columns, 1 / columns)
    for _ in range(iterations):
        q = a * plan
        delta = 1 / (rows * (q @ b))
        b = 1 / (columns * (q.T @ delta))
        plan = delta[:, None] * q * b
    return plan


def naive_scores(rows: list[np.ndarray], columns: list[np.ndarray], model: TransportVSE) -> np.ndarray:
    scores = np.zeros((len(rows), len(columns)))
    for (i, v), (j, e) in ((a, b) for a in enumerate(rows) for b in enumerate(columns)):
        s = v @ e.T
        matches = s.max(axis=0 if model.alignment.aggregation == "text_image" else 1)
        scores[i, j] = matches.sum() if model.alignment.reduction == "sum" else matches.mean()
        scores[i, j] -= model.alignment.transport_weight * (ipot(1 - s) * (1 - s)).sum()
    return scores


FORMS = [
    {},
    {"transport_weight": 0.0, "reduction": "sum"},
    {"aggregation": "image_text", "transport_weight": 0.1},
    {"aggregation": "image_text", "reduction": "sum", "word_skip": True, "region_context": True},
]


@pytest.mark.parametrize("form", FORMS)
def test_scores_equal_the_papers_equations(form: dict[str, Any]) -> None:
    model = create(language_weight=0.5, **form)
    batch = draw(model.languages)
    sets = encoded(model, batch)
    scores = model(tf.nest.map_structure(tf.constant, batch))
    assert set(scores) == {"en", "de", "en_de"}
    for name, row, column in (("en", "image", "en"), ("de", "image", "de"), ("en_de", "en", "de")):
        np.testing.assert_allclose(scores[name], naive_scores(sets[row], sets[column], model), atol=2e-5)


@pytest.mark.parametrize("gamma", [0.0, 0.7])
def test_the_loss_sums_hardest_negatives(gamma: float) -> None:
    model = create(language_weight=gamma, ranking_loss=TripletLoss(margin=0.12))
    batch = draw(model.languages)
    sets = encoded(model, batch)
    tensors = tf.nest.map_structure(tf.constant, batch)
    loss = model.compute_loss(x=tensors, y_pred=model(tensors))
    present = {"image": np.ones(BATCH, bool), **batch["text_mask"]}
    expected = 0.0
    for row, column in combinations(sets, 2):
        scores = naive_scores(sets[row], sets[column], model)
        for j in np.flatnonzero(present[row] & present[column]):
            others = batch["image_id"] != batch["image_id"][j]
            weight = 1.0 if row == "image" else gamma
            for negatives in (scores[j, others & present[column]], scores[others & present[row], j]):
                expected += weight * max(0.0, 0.12 - scores[j, j] + negatives.max())
    np.testing.assert_allclose(loss, expected, rtol=1e-4)
    assert expected > 0.1


@pytest.mark.parametrize(
    ("languages", "form"),
    [
        ("en de", {"language_weight": 0.1, "ranking_loss": ContrastiveLoss(learnable=True)}),
        ("en", {"transport_weight": 0.0, "region_context": True}),
    ],
)
def test_fit_lowers_the_loss_and_trains_every_weight(languages: str, form: dict[str, Any]) -> None:
    model = create(languages, dropout=0.1, **form)
    model.compile(keras.optimizers.Adam(0.02, clipnorm=2.0), jit_compile=False)
    before = [weight.numpy() for weight in model.trainable_variables]
    drawn = [draw(model.languages, seed) for seed in range(3)]
    data = tf.data.Dataset.from_tensor_slices(tf.nest.map_structure(lambda *parts: np.stack(parts), *drawn))
    losses = model.fit(data, epochs=4, verbose=0).history["loss"]
    assert losses[-1] < losses[0]
    for weight, old in zip(model.trainable_variables, before, strict=True):
        assert not np.array_equal(weight, old), f"{weight.path} did not train"


def images(count: int = 7) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(1)
    mask = random.random((count, REGIONS)) < 0.6
    mask[:, 0] = True
    return random.normal(size=(count, REGIONS, DIM)).astype("float32"), mask


def test_sets_are_unit_vectors_whatever_the_batches() -> None:
    model, (regions, mask) = create(), images()
    pictures, texts = model.encode_image(regions, mask, batch_size=3), model.encode_text(SENTENCES, "en", batch_size=3)
    np.testing.assert_array_equal(texts.counts, [3, 1, 1, 10, 3, 2, 1])
    for sets in (pictures, texts):
        np.testing.assert_allclose(np.linalg.norm(sets.items, axis=1), 1, atol=1e-6)
    for words, sentence in zip(texts, SENTENCES, strict=True):
        np.testing.assert_allclose(words, model.encode_text(sentence, "en").items, atol=1e-6)
    np.testing.assert_array_equal(pictures.counts, mask.sum(axis=1))
    expected = np.asarray(model.image_encoder(regions, mask))[mask]
    np.testing.assert_allclose(pictures.items, expected, atol=1e-6)
    one = model.encode_image(regions[2], mask[2])
    np.testing.assert_allclose(one.items, pictures[[2]].items, atol=1e-6)


def test_similarity_equals_the_batch_but_for_the_rounding_of_plans() -> None:
    model = create("en")
    batch = draw(model.languages)
    texts = model.text_encoders["en"](batch["text"]["en"])
    scores = model.similarity(
        model.encode_image(batch["regions"], batch["region_mask"]),
        ItemSets.of(np.asarray(texts), batch["text"]["en"] > 0),
    )
    np.testing.assert_allclose(scores, model(tf.nest.map_structure(tf.constant, batch))["en"], atol=0.03)


def test_similarity_does_not_depend_on_its_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    model = create("en")
    pictures, texts = model.encode_image(*images()), model.encode_text(SENTENCES)
    expected = model.similarity(pictures, texts)
    monkeypatch.setattr("vse_zoo.models.pairwise._IMAGES", 3)
    monkeypatch.setattr("vse_zoo.models.pairwise._TEXTS", 4)
    np.testing.assert_allclose(model.similarity(pictures, texts), expected, atol=1e-6)


def test_a_ranker_scores_as_similarity_does() -> None:
    model = create(transport_weight=0.8)
    pictures, texts = model.encode_image(*images()), model.encode_text(SENTENCES)
    ranker = model.ranker(pictures, texts)
    rows, columns = np.divmod(np.arange(len(pictures) * len(texts)), len(texts))
    scores = model.similarity(pictures, texts)
    np.testing.assert_allclose(ranker.scores(rows, columns), scores.reshape(-1), atol=1e-5)
    limits = ranker.limits(np.arange(len(pictures)), np.arange(len(texts)))
    assert np.all(limits >= scores)


def test_explaining_shows_each_word_and_a_plan_with_exact_marginals() -> None:
    model, (regions, _) = create(), images()
    found = model.explain(regions[0], "A, b c?")
    assert found.words == ["a", "b", "c"]
    assert found.plan.shape == found.similarity.shape == (REGIONS, 3)
    np.testing.assert_allclose(found.plan.sum(axis=0), 1 / 3, atol=1e-6)
    np.testing.assert_allclose(found.plan.sum(axis=1), 1 / REGIONS, atol=1e-6)
    expected = found.similarity.max(axis=0).mean() - 1.5 * np.sum(found.plan * (1 - found.similarity))
    np.testing.assert_allclose(found.score, expected, atol=1e-5)
    other = model.explain(regions[0], "a b c a b")  # padded to another width
    np.testing.assert_allclose(other.plan.sum(axis=0), np.full(5, 1 / 5), atol=1e-6)
    with pytest.raises(ValueError, match="found 7 and 1, expected pairs"):
        model.align(model.encode_image(*images()), model.encode_text("a"))


def test_a_preset_gives_an_equal_model(tmp_path: Path) -> None:
    model = create(word_skip=True, region_context=True, aggregation="image_text", ranking_loss=TripletLoss(margin=0.12))
    model.image_encoder.adapt(*images())
    presets.save(model, tmp_path)
    loaded = presets.load(tmp_path)
    assert loaded.get_config() == model.get_config()
    expected = model.similarity(model.encode_image(*images()), model.encode_text(SENTENCES, "de"))
    found = loaded.similarity(loaded.encode_image(*images()), loaded.encode_text(SENTENCES, "de"))
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_impossible_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match="word_dim must be 4, got 3"):
        create(word_skip=True, word_dim=3)
    with pytest.raises(ValueError, match="expected 'text_image' or 'image_text', and 'sum' or 'mean'"):
        create(reduction="max")
