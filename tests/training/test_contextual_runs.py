"""Runs on a contextual encoder: states computed once or live, resumed to the bit, loaded without its folder."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import vse_zoo
from vse_zoo.data import Dataset
from vse_zoo.errors import ConfigError
from vse_zoo.training import ContextAttentionConfig, TextInputs, load_config, read_history
from vse_zoo.training.callbacks import EpochSeeds

Train = Callable[..., None]
Same = Callable[[Path, Path], None]

TEXT = '[text]\nkind = "contextual"\nencoder = "encoder"\nprecomputed = true\n'


@pytest.fixture
def folder(tmp_path: Path, tiny_bert: dict[str, Path], config_file: Path) -> Path:
    """A configuration beside the encoder that it names."""
    shutil.copytree(tiny_bert["keras"], tmp_path / "encoder")
    text = (
        config_file.read_text()
        .replace("word_dim = 8", "word_skip = true")
        .replace("[train]", "[train]\nmax_length = 20")
    )
    (tmp_path / "tiny.toml").write_text(TEXT + text)
    return tmp_path


def edited(folder: Path, *replaced: tuple[str, str]) -> Path:
    text = (folder / "tiny.toml").read_text()
    for old, new in replaced:
        assert old in text
        text = text.replace(old, new)
    (folder / "edited.toml").write_text(text)
    return folder / "edited.toml"


@pytest.mark.slow
def test_a_run_resumes_and_is_loaded_without_its_encoder(
    folder: Path, make_dataset: Callable[..., Dataset], train: Train, assert_same_weights: Same
) -> None:
    data = make_dataset(folder)
    options = {"data": data.path, "config": folder / "tiny.toml", "epochs": 2}
    train(folder / "whole", **options)
    kept = sorted((data.path / "states").iterdir())
    assert len(kept) == 2

    seeded = EpochSeeds.on_epoch_begin

    def killing(self: EpochSeeds, epoch: int, logs: dict[str, float] | None = None) -> None:
        if epoch == 1:
            raise RuntimeError("killed")
        seeded(self, epoch, logs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(EpochSeeds, "on_epoch_begin", killing)
        with pytest.raises(RuntimeError, match="killed"):
            train(folder / "run", **options)
    train(folder / "run", **options, resume=True)
    assert sorted((data.path / "states").iterdir()) == kept
    assert_same_weights(folder / "run" / "last.weights.h5", folder / "whole" / "last.weights.h5")
    assert read_history(folder / "run") == read_history(folder / "whole")

    shutil.rmtree(folder / "encoder")
    model = vse_zoo.load(folder / "run")
    assert model.encode_text(["grüne Straße", ""], "de").shape == (2, model.heads * model.units)


@pytest.mark.usefixtures("without_graphs")
def test_live_states_train_as_those_computed_before(
    folder: Path, make_dataset: Callable[..., Dataset], train: Train
) -> None:
    data, found = make_dataset(folder), []
    without = [("dropout = 0.3", "dropout = 0.0"), ("batch_size = 5", "batch_size = 24")]
    for replaced in (without, [*without, ("precomputed = true", "precomputed = false")]):
        out = folder / f"run{len(found)}"
        train(out, data=data.path, config=edited(folder, *replaced), epochs=1)
        found.append((float(read_history(out)[0]["loss"]), vse_zoo.load(out).encode_text(["the dog"], "en")))
    (loss, vectors), (other_loss, other_vectors) = found
    assert loss == pytest.approx(other_loss, rel=5e-3)
    np.testing.assert_allclose(vectors, other_vectors, atol=2e-2)


REFUSED = {
    "another word_dim": (("word_skip = true", "word_dim = 9"), "encoder: found vectors of 8 numbers, .* is 9"),
    "other units": (("units = 8", "units = 6"), "found words of 8 numbers and units of 6"),
    "too many pieces": (("max_length = 20", "max_length = 23"), r"train.max_length': found 23, .* takes 22 pieces"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_does_not_fit_is_refused(kind: str, folder: Path, tiny: Dataset) -> None:
    replaced, message = REFUSED[kind]
    config = load_config(edited(folder, replaced), ContextAttentionConfig)
    with pytest.raises(ConfigError, match=message):
        TextInputs.prepare(config, tiny, folder)
