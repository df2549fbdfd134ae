"""ContextualWords against its backbone on single sentences; models with it, on states computed before, and saved."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import keras
import numpy as np
import pytest
import tensorflow as tf

import vse_zoo
from vse_zoo import presets
from vse_zoo.data import Dataset, PairBatches, Record, write_dataset
from vse_zoo.data.npy import open_npy
from vse_zoo.errors import DataError, PresetError
from vse_zoo.models import ContextAttentionVSE
from vse_zoo.models.context_attention import ContextualWords, precomputed_states
from vse_zoo.preprocessing import PiecePreprocessor

SENTENCES = ["the dog runs.", "Hund", "", "Die grüne Straße, Über the café, runs dog the grün"]


def create(folder: Path, trainable: bool = False) -> tuple[PiecePreprocessor, ContextualWords]:
    preprocessor = PiecePreprocessor.from_encoder(folder, ["en", "de"], max_length=20)
    return preprocessor, ContextualWords.from_encoder(folder, preprocessor.special_pieces, trainable=trainable)


@pytest.fixture(scope="module")
def pair(tiny_bert: dict[str, Path]) -> tuple[PiecePreprocessor, ContextualWords]:
    return create(tiny_bert["keras"])


def model(pair: tuple[PiecePreprocessor, ContextualWords], **arguments: object) -> ContextAttentionVSE:
    keras.utils.set_random_seed(3)
    sizes = {"units": 8, "heads": 2, "attention_dim": 4, "word_skip": True, **arguments}
    made = ContextAttentionVSE(pair[0], 6, contextual=pair[1], **sizes)
    made.build()
    return made


def test_states_are_the_backbones_of_single_sentences(pair: tuple[PiecePreprocessor, ContextualWords]) -> None:
    preprocessor, words = pair
    ids = preprocessor(SENTENCES, "de")
    found = words(ids).numpy()
    start, end = preprocessor.special_pieces
    assert found.shape == (4, ids.shape[1], words.dim)
    for row, states in zip(preprocessor.ragged(SENTENCES, "de").to_list(), found, strict=True):
        tokens = np.array([[start, *(number - 1 for number in row), end]])
        inputs = {"token_ids": tokens, "padding_mask": np.ones_like(tokens), "segment_ids": np.zeros_like(tokens)}
        expected = words.backbone(inputs)["sequence_output"].numpy()[0, 1:-1]
        np.testing.assert_allclose(states[: len(row)], expected, atol=1e-5)
        assert not states[len(row) :].any()
    # States of a piece differ with its sentence.
    assert np.abs(words(preprocessor(["the dog", "Hund dog"], "en")).numpy()[0, 1] - found[0, 1]).max() > 1e-2


def test_both_kinds_of_folder_give_the_same_states(
    tiny_bert: dict[str, Path], pair: tuple[PiecePreprocessor, ContextualWords]
) -> None:
    if "hugging_face" not in tiny_bert:
        pytest.skip("safetensors isn't installed")
    preprocessor, words = create(tiny_bert["hugging_face"])
    assert preprocessor.get_config() == pair[0].get_config()
    ids = preprocessor(SENTENCES, "en")
    np.testing.assert_allclose(words(ids), pair[1](ids), atol=1e-6)


def test_states_are_those_of_bert_in_numpy(tiny_bert: dict[str, Path]) -> None:
    if "hugging_face" not in tiny_bert:
        pytest.skip("safetensors isn't installed")
    preprocessor, words = create(tiny_bert["hugging_face"])
    ids = preprocessor(SENTENCES, "de")
    for row, states in zip(preprocessor.ragged(SENTENCES, "de").to_list(), words(ids).numpy(), strict=True):
        tokens = [2, *(number - 1 for number in row), 3]
        expected = bert(tiny_bert["hugging_face"], np.array(tokens))[1:-1]
        np.testing.assert_allclose(states[: len(row)], expected, atol=2e-5)


def bert(folder: Path, tokens: np.ndarray) -> np.ndarray:
    """The last layer of Devlin et al.'s BERT for one sentence in float64, from a Hugging Face folder's tensors."""
    from safetensors.numpy import load_file

    weights = {name: value.astype("float64") for name, value in load_file(folder / "model.safetensors").items()}
    config = json.loads((folder / "config.json").read_text())

    def dense(name: str, x: np.ndarray) -> np.ndarray:
        return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def norm(name: str, x: np.ndarray) -> np.ndarray:
        x = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-12)
        return x * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    def heads(x: np.ndarray) -> np.ndarray:
        return x.reshape(len(tokens), config["num_attention_heads"], -1).transpose(1, 0, 2)

    place = "embeddings.{}_embeddings.weight".format
    x = weights[place("word")][tokens] + weights[place("position")][: len(tokens)] + weights[place("token_type")][0]
    x = norm("embeddings.LayerNorm", x)
    for number in range(config["num_hidden_layers"]):
        layer = f"encoder.layer.{number}"
        query, key, value = (heads(dense(f"{layer}.attention.self.{name}", x)) for name in ("query", "key", "value"))
        scores = np.exp(query @ key.transpose(0, 2, 1) / np.sqrt(query.shape[-1]))
        mixed = (scores / scores.sum(-1, keepdims=True)) @ value
        mixed = dense(f"{layer}.attention.output.dense", mixed.transpose(1, 0, 2).reshape(x.shape))
        x = norm(f"{layer}.attention.output.LayerNorm", x + mixed)
        inner = dense(f"{layer}.intermediate.dense", x)
        # The form with tanh, as in keras_hub and in BERT's own code.
        inner = 0.5 * inner * (1 + np.tanh(np.sqrt(2 / np.pi) * (inner + 0.044715 * inner**3)))
        x = norm(f"{layer}.output.LayerNorm", x + dense(f"{layer}.output.dense", inner))
    return x


def test_an_encoder_is_frozen_and_without_dropout_unless_it_is_fine_tuned(tiny_bert: dict[str, Path]) -> None:
    for trainable in (False, True):
        preprocessor, words = create(tiny_bert["keras"], trainable)
        ids = preprocessor(SENTENCES, "en")
        assert bool(words.trainable_variables) == trainable
        same = np.allclose(words(ids, training=True), words(ids), atol=1e-6)
        assert same != trainable
        with tf.GradientTape() as tape:
            total = tf.reduce_sum(words(ids, training=True) ** 3)
        assert all(gradient is not None for gradient in tape.gradient(total, words.trainable_variables))


@pytest.mark.slow
def test_fine_tuning_moves_the_encoder_and_freezing_keeps_it(tiny_bert: dict[str, Path]) -> None:
    for trainable in (False, True):
        pair = create(tiny_bert["keras"], trainable)
        made = model(pair)
        before = [weight.numpy() for weight in pair[1].weights]
        made.compile(keras.optimizers.AdamW(0.01, weight_decay=0.1), jit_compile=False)
        made.fit(tf.data.Dataset.from_tensors(batch(pair[0])).repeat(2), verbose=0)
        moved = [not np.array_equal(weight, old) for weight, old in zip(pair[1].weights, before, strict=True)]
        assert any(moved) == trainable


def batch(preprocessor: PiecePreprocessor) -> dict[str, object]:
    text = {language: preprocessor(SENTENCES, language) for language in ("en", "de")}
    return {
        "regions": np.random.default_rng(0).normal(size=(4, 3, 6)).astype("float32"),
        "region_mask": np.ones((4, 3), bool),
        "text": text,
        "text_mask": {language: np.ones(4, bool) for language in text},
        "image_id": np.arange(4, dtype="int32"),
    }


def test_a_preset_needs_no_other_folder_and_embeds_the_same(tiny_bert: dict[str, Path], tmp_path: Path) -> None:
    folder = shutil.copytree(tiny_bert["keras"], tmp_path / "encoder")
    made = model(create(folder))
    presets.save(made, tmp_path / "preset", {})
    shutil.rmtree(folder)
    loaded = vse_zoo.load(tmp_path / "preset")
    for language in ("en", "de"):
        np.testing.assert_allclose(
            loaded.encode_text(SENTENCES, language), made.encode_text(SENTENCES, language), atol=1e-7
        )
    assert presets.languages(tmp_path / "preset") == ("en", "de")
    assert loaded.attend_text(SENTENCES[:1])[0] == [["the", "dog", "run", "##s", "."]]
    assert not loaded.contextual.trainable_variables
    assert {path.name for path in tmp_path.glob("preset/**/*")} == {
        "config.json", "model.weights.h5", "preprocessor.json", "metadata.json", "assets", "pieces.txt",
    }  # fmt: skip
    missing = tmp_path / "preset" / "assets" / "pieces.txt"
    missing.unlink()
    with pytest.raises(PresetError, match=r"pieces\.txt"):
        vse_zoo.load(tmp_path / "preset")


def test_a_preset_whose_backbone_is_something_else_is_refused(
    pair: tuple[PiecePreprocessor, ContextualWords], tmp_path: Path
) -> None:
    presets.save(model(pair), tmp_path, {})
    path = tmp_path / "config.json"
    for foreign in (
        {"module": "os", "class_name": "system", "config": {}, "registered_name": None},
        {"module": "keras.layers", "class_name": "Dense", "config": {"units": 3}, "registered_name": None},
    ):
        config = json.loads(path.read_text())
        config["config"]["contextual"]["config"]["backbone"] = foreign
        path.write_text(json.dumps(config))
        with pytest.raises(PresetError, match=r"config\.json"):
            vse_zoo.load(tmp_path)


def test_a_folder_without_an_encoder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="none: found no encoder that keras_hub can load"):
        ContextualWords.from_encoder(tmp_path / "none", (2, 3))


def test_importing_the_package_does_not_import_keras_hub() -> None:
    code = "import sys, vse_zoo; assert 'keras_hub' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(vse_zoo.__file__).parents[1])


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    """Four images; the second has no German."""
    captions = [{"en": [text, text[::-1]], "de": [text]} for text in SENTENCES]
    captions[1].pop("de")
    captions[2]["en"] = captions[2]["de"] = ["dog"]
    records = [Record(f"{number}.jpg", "train", found) for number, found in enumerate(captions)]
    empty = write_dataset(
        tmp_path / "data", records, name="tiny", image_source={"kind": "none"}, languages=("en", "de")
    )
    np.save(tmp_path / "regions.npy", np.random.default_rng(1).normal(size=(4, 3, 6)).astype("float32"))
    return empty.attach_regions(tmp_path / "regions.npy", None, backbone="random", grid=None, left_out={})


@pytest.mark.usefixtures("without_graphs")
def test_batches_of_states_give_the_outputs_of_live_ones(
    dataset: Dataset, pair: tuple[PiecePreprocessor, ContextualWords]
) -> None:
    preprocessor, words = pair
    made = model(pair)
    states = {name: precomputed_states(dataset, "train", name, preprocessor, words) for name in ("en", "de")}
    live = PairBatches(dataset, "train", preprocessor.ragged, batch_size=3)
    kept = PairBatches(dataset, "train", preprocessor.ragged, batch_size=3, states=states)
    first = next(iter(kept.dataset()))
    assert first["text"]["en"].dtype == tf.float16
    assert first["text"]["en"].shape[2] == words.dim
    for step in range(live.steps_per_epoch * 3):
        one, other = live.batch(step), kept.batch(step)
        for language in ("en", "de"):
            vectors, there = other["text"][language], one["text_mask"][language]
            expected = words(one["text"][language]).numpy()[there]
            np.testing.assert_allclose(vectors[there].astype("float32"), expected, atol=4e-3)
            assert not vectors[~there].any()
        views, others = made(one), made(other)
        for name in views:
            real = one["text_mask"].get(name, np.ones(3, bool))
            np.testing.assert_allclose(views[name][real], others[name][real], atol=2e-3)
            assert np.isfinite(others[name]).all()
        loss, expected = (made.compute_loss(x=x, y_pred=made(x)) for x in (one, other))
        assert float(loss) == pytest.approx(float(expected), abs=2e-2)


def test_states_are_kept_for_the_same_encoder_and_captions_alone(
    dataset: Dataset, tiny_bert: dict[str, Path], pair: tuple[PiecePreprocessor, ContextualWords]
) -> None:
    preprocessor, words = pair
    path = precomputed_states(dataset, "train", "en", preprocessor, words)
    written = path.stat().st_mtime_ns
    assert path.parent == dataset.path / "states"
    assert precomputed_states(dataset, "train", "en", *create(tiny_bert["keras"])) == path
    assert path.stat().st_mtime_ns == written
    assert precomputed_states(dataset, "train", "de", preprocessor, words) != path
    shorter = PiecePreprocessor.from_config({**preprocessor.get_config(), "max_length": 2})
    other = create(tiny_bert["keras"])[1]
    other.weights[0].assign(other.weights[0] + 1e-3)
    paths = [precomputed_states(dataset, "train", "en", *made) for made in ((shorter, words), (preprocessor, other))]
    assert len({path, *paths}) == 3
    with pytest.raises(DataError, match=r"found vectors of .* words, the captions of 'train' in 'en' have"):
        PairBatches(dataset, "train", preprocessor.ragged, states={"en": paths[0]})


def test_an_interrupted_encoding_leaves_no_file(
    dataset: Dataset, pair: tuple[PiecePreprocessor, ContextualWords], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("vse_zoo.progress.Bar.advance", interrupted)
    with pytest.raises(KeyboardInterrupt):
        precomputed_states(dataset, "train", "en", *pair)
    assert not list((dataset.path / "states").iterdir())
    monkeypatch.undo()
    path = precomputed_states(dataset, "train", "en", *pair)
    states = open_npy(path)
    texts, _ = dataset.captions("train", "en")
    assert len(states) == sum(map(len, pair[0].ragged(texts, "en").to_list()))


def test_minilm_is_bert_in_numpy_and_ranks_paraphrases_above_others(minilm: Path) -> None:
    preprocessor = PiecePreprocessor.from_encoder(minilm, ["en"])
    words = ContextualWords.from_encoder(minilm, preprocessor.special_pieces)
    texts = [
        *("A dog runs on the beach.", "A puppy is running along the shore."),
        *("Two men play chess.", "A pair of guys are having a game of chess."),
        *("A woman is cutting onions.", "Someone chops an onion."),
        *("Children swim in a lake.", "Kids are swimming in the water."),
    ]
    ids = preprocessor(texts, "en")
    states, real = words(ids).numpy(), ids.numpy() > 0
    start, end = preprocessor.special_pieces
    tokens = np.array([start, *(ids.numpy()[1][real[1]] - 1), end])
    np.testing.assert_allclose(states[1][real[1]], bert(minilm, tokens)[1:-1], atol=1e-4)
    means = states.sum(axis=1) / real.sum(axis=1, keepdims=True)
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    scores = means @ means.T - 2 * np.eye(len(texts))
    assert scores.argmax(axis=1).tolist() == [1, 0, 3, 2, 5, 4, 7, 6]
    assert scores[range(8), scores.argmax(axis=1)].min() > 0.5
