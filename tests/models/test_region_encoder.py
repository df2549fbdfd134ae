"""What the region encoder does to features before it learns from them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import keras
import numpy as np
import pytest

from vse_zoo.layers import Standardization
from vse_zoo.models import ContextAttentionVSE
from vse_zoo.preprocessing import TextPreprocessor

DIM = 5


def create(**arguments: Any) -> ContextAttentionVSE:
    sizes = {"units": 4, "heads": 3, "attention_dim": 3, "word_dim": 5}
    keras.utils.set_random_seed(0)
    model = ContextAttentionVSE(TextPreprocessor({"en": ["a", "b"]}), DIM, **sizes, **arguments)
    model.build()
    return model


def test_the_standardisation_has_the_mean_and_deviation_of_real_regions() -> None:
    model = create()
    regions = np.random.default_rng(0).normal(2, 3, (6, 4, DIM))
    mask = np.random.default_rng(1).random((6, 4)) < 0.7
    model.image_encoder.adapt(regions.astype("float16"), mask)
    real = regions[mask].astype(np.float64)
    np.testing.assert_allclose(model.image_encoder.mean, real.mean(axis=0), atol=1e-3)
    np.testing.assert_allclose(model.image_encoder.scale, 1 / (real.std(axis=0) + 1e-3), rtol=1e-2)


def test_a_power_of_the_regions_comes_before_the_standardisation() -> None:
    regions = np.random.default_rng(0).normal(0, 3, (4, 2, DIM))
    raised = np.sign(regions) * np.sqrt(np.abs(regions))
    model, plain = create(region_power=0.5), create()
    mask = np.ones((4, 2), bool)
    model.image_encoder.adapt(regions, mask)
    plain.image_encoder.adapt(raised, mask)
    np.testing.assert_allclose(model.image_encoder.mean, raised.mean((0, 1)), atol=1e-6)
    np.testing.assert_allclose(model.encode_image(regions), plain.encode_image(raised), atol=1e-6)
    np.testing.assert_allclose(model.encode_image(0 * regions), plain.encode_image(0 * regions), atol=1e-6)
    copy = ContextAttentionVSE.from_config(model.get_config())
    assert copy.image_encoder.power == 0.5
    with pytest.raises(ValueError, match="power: found 0, expected a number above 0, up to 1"):
        create(region_power=0)


def test_it_standardises_with_the_layer_of_that_name_and_its_weights_stay_where_they_were(tmp_path: Path) -> None:
    model = create()
    encoder = model.image_encoder
    assert isinstance(encoder.standardization, Standardization)
    assert encoder.weights[0] is encoder.mean is encoder.standardization.mean
    assert encoder.weights[1] is encoder.scale is encoder.standardization.scale
    encoder.adapt(np.random.default_rng(0).normal(2, 3, (6, 4, DIM)), np.ones((6, 4), bool))
    model.save_weights(tmp_path / "model.weights.h5")
    with h5py.File(tmp_path / "model.weights.h5") as file:
        np.testing.assert_array_equal(file["image_encoder/vars/0"], encoder.mean)
        np.testing.assert_array_equal(file["image_encoder/vars/1"], encoder.scale)
        assert not len(file.get("image_encoder/standardization/vars", ()))
    copy = create()
    copy.load_weights(tmp_path / "model.weights.h5")
    np.testing.assert_array_equal(copy.image_encoder.standardization.mean, encoder.mean)


@pytest.mark.parametrize("dtype", ["mixed_float16", "mixed_bfloat16"])
def test_half_precision_does_not_round_regions_before_they_are_standardised(dtype: str) -> None:
    """At mean 40 half precision is too coarse for a deviation of 0.05. What comes after is within 16 roundoffs."""
    regions = np.random.default_rng(0).normal(40, 0.05, (6, 4, DIM)).astype("float32")
    full, mixed = create(), create(dtype=dtype)
    for model in (full, mixed):
        model.image_encoder.adapt(regions, np.ones((6, 4), bool))
    roundoff = {"mixed_float16": 2.0**-12, "mixed_bfloat16": 2.0**-9}[dtype]
    np.testing.assert_allclose(mixed.encode_image(regions), full.encode_image(regions), atol=16 * roundoff)
