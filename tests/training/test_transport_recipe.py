"""The optimal_transport recipe: its published configurations, and a tiny run: resumed, evaluated, loaded again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from vse_zoo import presets, registry
from vse_zoo.data import Dataset
from vse_zoo.training import OptimalTransportConfig, load_config, read_history
from vse_zoo.workflow import evaluate_folder, train

CONFIGS = registry.recipes() / "configs" / "optimal_transport"
# One language: a graph for each two would take most of the time, and tests/models trains them.
TINY = """
[model]
units = 8
word_dim = 8
word_skip = true
dropout = 0.3
transport_weight = 0.5
[ranking]
kind = "triplet"
margin = 0.12
[optimizer]
learning_rate = 0.01
schedule = "cosine"
[train]
epochs = 2
batch_size = 8
minimum_count = 1
languages = ["en"]
"""

# λ, η, learning rate, epochs, epoch of the step: section 4 of the paper and its released code (COCO's λ is 0.1).
PUBLISHED = {
    "flickr30k": (1.5, 0.12, 2e-4, 30, 15, "mean"),
    "flickr30k_text": (1.5, 0.12, 2e-4, 30, 15, "sum"),
    "coco": (0.1, 0.05, 5e-4, 20, 10, "mean"),
    "coco_text": (0.1, 0.05, 5e-4, 20, 10, "sum"),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_settings_are_the_published_ones(name: str) -> None:
    settings = load_config(CONFIGS / f"{name}.toml", OptimalTransportConfig)
    model, optimizer, loss = settings.model, settings.optimizer, settings.ranking.loss()
    found = (
        model.transport_weight,
        loss.margin,
        optimizer.learning_rate,
        settings.train.epochs,
        optimizer.step_epoch,
        model.reduction,
    )
    assert found == PUBLISHED[name]
    assert (model.units, model.word_dim, model.beta, model.iterations) == (1800, 300, 0.5, 20)
    assert (model.dropout, model.word_skip, model.aggregation) == (0, False, "text_image")
    assert (optimizer.kind, optimizer.clip_norm, optimizer.weight_decay, optimizer.step_factor) == ("adamw", 2, 0, 0.1)
    assert (loss.negatives, loss.warmup_steps, loss.reduction, settings.train.batch_size) == ("hardest", 0, "sum", 128)


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("*.toml")), ids=lambda path: path.stem)
def test_every_committed_configuration_loads(path: Path) -> None:
    settings = load_config(path, OptimalTransportConfig)
    assert settings.model_dump(exclude_unset=True).keys() == {"model", "ranking", "optimizer", "train"}
    assert settings.train.length_pool == 1


class StoppedError(Exception):
    """The machine went down."""


def test_a_run_resumes_to_the_same_weights_and_is_evaluated(
    tiny: Dataset,
    tmp_path: Path,
    interrupt: Callable[..., None],
    assert_same_weights: Callable[[Path, Path], None],
) -> None:
    settings = tmp_path / "tiny.toml"
    settings.write_text(TINY)
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    train("optimal_transport", tiny.path, whole, config=str(settings))
    interrupt(StoppedError(), epoch=1, batch=3)
    with pytest.raises(StoppedError):
        train("optimal_transport", tiny.path, parts, config=str(settings))
    interrupt(StoppedError(), epoch=9)
    train("optimal_transport", tiny.path, parts, config=str(settings), resume=True)
    assert_same_weights(whole / "last.weights.h5", parts / "last.weights.h5")
    rows = read_history(whole)
    found = evaluate_folder(presets.load(whole), "tiny", tiny.path, "dev")
    assert max(float(row["val_rsum"]) for row in rows) == pytest.approx(found.values["rsum"])
