"""A language added later: the others stay to the bit, only the new one's weights move, and a preset holds all."""

from __future__ import annotations

from pathlib import Path

import keras
import numpy as np
import pytest
import tensorflow as tf

import vse_zoo
from vse_zoo import presets
from vse_zoo.losses import ContrastiveLoss
from vse_zoo.models import ContextAttentionVSE
from vse_zoo.models.context_attention import ContextualWords, extend_language
from vse_zoo.preprocessing import PiecePreprocessor, TextPreprocessor

pytestmark = pytest.mark.usefixtures("without_graphs")

DIM = 6
TEXTS = ["a b", "b unknown a", "", "c"]
CAPTIONS = ["un chien", "un chat", "un chien", "un oiseau"]
REGIONS = np.random.default_rng(0).normal(size=(4, 3, DIM)).astype("float32")


def create(folder: Path | None) -> ContextAttentionVSE:
    keras.utils.set_random_seed(2)
    contextual = None
    preprocessor: TextPreprocessor | PiecePreprocessor = TextPreprocessor({"en": list("abc"), "de": list("ab")})
    if folder:
        preprocessor = PiecePreprocessor.from_encoder(folder, ["en", "de"], max_length=20)
        contextual = ContextualWords.from_encoder(folder, preprocessor.special_pieces)
    model = ContextAttentionVSE(
        preprocessor,
        DIM,
        units=4,
        heads=2,
        word_dim=5,
        dropout=0.3,
        contextual=contextual,
        ranking_loss=ContrastiveLoss(learnable=True),
    )
    model.build()
    return model


@pytest.mark.parametrize("kind", ["words", "pieces"])
def test_only_the_new_language_is_trained(kind: str, tiny_bert: dict[str, Path], tmp_path: Path) -> None:
    model = create(tiny_bert["keras"] if kind == "pieces" else None)
    keras.utils.set_random_seed(9)
    extended = extend_language(model, "fr", CAPTIONS, minimum_count=2)
    assert extended.languages == ("en", "de", "fr")
    assert {id(weight) for weight in extended.trainable_variables} == {
        id(weight) for weight in extended.text_encoders["fr"].trainable_variables
    }
    if kind == "words":
        assert extended.preprocessor.vocabulary("fr")[2:] == ("un", "chien")

    before = extended.encode_text(CAPTIONS, "fr")
    text = {"fr": extended.preprocessor(CAPTIONS, "fr")}
    text |= {language: extended.preprocessor(TEXTS, language) for language in model.languages}
    batch = {
        "regions": REGIONS,
        "region_mask": np.ones((4, 3), bool),
        "text": text,
        "text_mask": {"fr": np.array([True, True, True, False]), "en": np.ones(4, bool), "de": np.zeros(4, bool)},
        "image_id": np.arange(4, dtype="int32"),
    }
    extended.compile(keras.optimizers.AdamW(0.05, weight_decay=0.1), jit_compile=False)
    extended.fit(tf.data.Dataset.from_tensors(batch).repeat(3), verbose=0)
    assert np.abs(extended.encode_text(CAPTIONS, "fr") - before).max() > 1e-3

    presets.save(extended, tmp_path, {})
    for found in (extended, vse_zoo.load(tmp_path)):
        np.testing.assert_array_equal(found.encode_image(REGIONS), model.encode_image(REGIONS))
        for language in model.languages:
            expected = model.encode_text(TEXTS, language)
            np.testing.assert_array_equal(found.encode_text(TEXTS, language), expected)
        np.testing.assert_array_equal(found.encode_text(CAPTIONS, "fr"), extended.encode_text(CAPTIONS, "fr"))


def test_a_known_language_is_refused() -> None:
    with pytest.raises(ValueError, match="found 'de', which the model knows"):
        extend_language(create(None), "de", CAPTIONS)
