"""The two_way_net recipe on tiny data: two matrices, and pictures with sentences; resumed, evaluated, loaded again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from vse_zoo import presets
from vse_zoo.data import Dataset, TwoViewData, write_two_view
from vse_zoo.errors import ConfigError, EvaluationError
from vse_zoo.training import TwoWayNetConfig, load_config, read_history
from vse_zoo.workflow import evaluate_folder, train

MATRICES = """
[model]
layer_sizes = [6, 3, 6]
dropout = 0.2
[optimizer]
kind = "sgd"
learning_rate = 1e-3
schedule = "staircase"
step_epoch = 1
[train]
epochs = 2
batch_size = 16
"""
SENTENCES = """
[model]
layer_sizes = [4]
y_components = 5
input_dropout = 0.2
ranking_weight = 1.0
[sentences]
word_dim = 3
components = 2
minimum_count = 1
[optimizer]
schedule = "cosine"
[train]
epochs = 2
batch_size = 8
"""


def config(folder: Path, text: str) -> str:
    path = folder / "tiny.toml"
    path.write_text(text)
    return str(path)


@pytest.fixture(scope="module")
def matrices(tmp_path_factory: pytest.TempPathFactory) -> Path:
    random = np.random.default_rng(0)
    splits = {}
    for split, rows in (("train", 64), ("dev", 32), ("test", 32)):
        shared = random.normal(size=(rows, 3))
        x, y = (np.hstack([shared, random.normal(size=(rows, size))]).astype("float32") for size in (2, 4))
        splits[split] = (x, y)
    return write_two_view(tmp_path_factory.mktemp("views") / "data", splits, name="tiny", origin="drawn").path


class StoppedError(Exception):
    """The machine went down."""


@pytest.mark.slow
def test_two_matrices_resume_to_the_same_weights(
    matrices: Path, tmp_path: Path, interrupt: Callable[..., None], assert_same_weights: Callable[[Path, Path], None]
) -> None:
    settings = config(tmp_path, MATRICES)
    train("two_way_net", matrices, tmp_path / "whole", config=settings)
    interrupt(StoppedError(), epoch=1, batch=3)
    with pytest.raises(StoppedError):
        train("two_way_net", matrices, tmp_path / "parts", config=settings)
    interrupt(StoppedError(), epoch=9)
    train("two_way_net", matrices, tmp_path / "parts", config=settings, resume=True)
    assert_same_weights(tmp_path / "whole" / "last.weights.h5", tmp_path / "parts" / "last.weights.h5")
    rows = read_history(tmp_path / "whole")
    assert len(rows) == 2
    assert {"val_canonical", "val_neuron", "val_effective_rank", "val_variance", "loss"} <= rows[0].keys()
    x, _ = TwoViewData.open(matrices).views("test")
    whole, parts = (presets.load(tmp_path / name) for name in ("whole", "parts"))
    np.testing.assert_array_equal(whole.encode_x(x), parts.encode_x(x))
    with pytest.raises(ConfigError, match="there is a run here already"):
        train("two_way_net", matrices, tmp_path / "whole", config=settings)
    found = evaluate_folder(whole, "whole", matrices, "test")
    assert set(found.values) == {"split", "neuron", "canonical", "effective_rank", "directions", "variance"}


@pytest.mark.usefixtures("without_graphs")
def test_pictures_and_sentences(tiny: Dataset, matrices: Path, tmp_path: Path) -> None:
    train("two_way_net", tiny.path, tmp_path / "run", config=config(tmp_path, SENTENCES))
    model = presets.load(tmp_path / "run")
    assert model.languages == ("en",)
    found = evaluate_folder(model, "run", tiny.path, "test")
    assert set(found.values["languages"]) == {"en"}
    assert "ranking" in read_history(tmp_path / "run")[0]
    train("two_way_net", tiny.path, tmp_path / "run", config=config(tmp_path, SENTENCES), resume=True)
    again = presets.load(tmp_path / "run")
    np.testing.assert_array_equal(again.encode_text(["red dog"]), model.encode_text(["red dog"]))


@pytest.mark.usefixtures("without_graphs")
def test_the_wrong_kind_of_folder_is_said(
    tiny: Dataset, matrices: Path, tmp_path: Path, make_dataset: Callable[..., Dataset]
) -> None:
    train("two_way_net", matrices, tmp_path / "views", config=config(tmp_path, MATRICES), epochs=1)
    with pytest.raises(EvaluationError, match="the model was made for two matrices"):
        evaluate_folder(presets.load(tmp_path / "views"), "views", tiny.path, "test")
    attention = presets.load("context_attention_flickr8k_en_de")
    with pytest.raises(EvaluationError, match="takes pictures and sentences"):
        evaluate_folder(attention, "attention", matrices, "test")


def test_the_default_configuration_is_the_papers_for_mnist() -> None:
    from vse_zoo import registry

    path = registry.recipes() / "configs" / "two_way_net" / "mnist.toml"
    paper = load_config(path, TwoWayNetConfig)
    default = TwoWayNetConfig()
    assert paper.network()["layer_sizes"] == default.network()["layer_sizes"]
    assert paper.model == default.model
    assert paper.optimizer == default.optimizer
    assert paper.optimizer.optimizer(10, 80).global_clipnorm is None
