"""Configurations: the committed ones load, each section builds what it says, each error names file and field."""

from __future__ import annotations

from pathlib import Path

import keras
import numpy as np
import pytest

from vse_zoo import registry
from vse_zoo.errors import ConfigError
from vse_zoo.losses import ContrastiveLoss, TripletLoss
from vse_zoo.training import ContextAttentionConfig, load_config

COMMITTED = sorted((registry.recipes() / "configs" / "context_attention").glob("*.toml"))


def write(folder: Path, text: str) -> Path:
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("path", COMMITTED, ids=lambda path: path.stem)
def test_every_committed_configuration_loads_and_builds(path: Path) -> None:
    config = load_config(path, ContextAttentionConfig)
    assert config.model_dump(exclude_unset=True).keys() >= {"model", "ranking", "optimizer", "train"}
    assert isinstance(config.ranking.loss(), TripletLoss | ContrastiveLoss)
    assert config.diversity.loss().margin == config.diversity.margin
    assert isinstance(config.optimizer.optimizer(10, config.train.epochs), keras.optimizers.AdamW)


def test_the_default_is_the_paper() -> None:
    paper = load_config(next(path for path in COMMITTED if path.stem == "paper"), ContextAttentionConfig)
    default = ContextAttentionConfig()
    assert default.ranking.loss().reduction == paper.ranking.reduction == "sum"
    as_stated = default.ranking.model_copy(update={"reduction": "sum"})
    # Random word vectors have 300 numbers where word_dim is left out.
    sizes = default.model.model_copy(update={"word_dim": 300})
    assert paper == default.model_copy(update={"ranking": as_stated, "model": sizes})


def test_an_empty_file_is_the_default(tmp_path: Path) -> None:
    assert load_config(write(tmp_path, ""), ContextAttentionConfig) == ContextAttentionConfig()


def test_overrides_replace_the_train_section_and_none_keeps(tmp_path: Path) -> None:
    path = write(tmp_path, "[train]\nepochs = 30\nseed = 2\nbatch_size = 8\n")
    train = load_config(path, ContextAttentionConfig, seed=7, epochs=None).train
    assert (train.epochs, train.seed, train.batch_size) == (30, 7, 8)
    assert load_config(write(tmp_path, ""), ContextAttentionConfig).train.seed == 0
    assert load_config(path, ContextAttentionConfig, seed=0).train.seed == 0


WRONG = {
    "an unknown section": ("[modle]\nunits = 3", "modle", "extra inputs are not permitted"),
    "an unknown field": ("[model]\nunit = 3", "model.unit", "found 3: extra inputs are not permitted"),
    "no number": ("[model]\nunits = 'many'", "model.units", "found 'many': input should be a valid integer"),
    "zero": ("[model]\nheads = 0", "model.heads", "found 0: input should be greater than 0"),
    "a dropout of 1": ("[model]\ndropout = 1.0", "model.dropout", "found 1.0: input should be less than 1"),
    "an odd number of units": ("[model]\nunits = 7", "model.units", "found 7: expected an even number"),
    "a skip of another size": (
        "[model]\nunits = 8\nword_dim = 6\nword_skip = true",
        "model.word_skip",
        "found True: expected word_dim to be units, found 6 and 8",
    ),
    "an unknown kind": ("[ranking]\nkind = 'x'", "ranking.kind", "found 'x': input should be 'triplet' or"),
    "an unknown form": ("[diversity]\nform = 'x'", "diversity.form", "found 'x': input should be 'distance'"),
    "not finite": (
        "[optimizer]\nlearning_rate = inf",
        "optimizer.learning_rate",
        "found inf: input should be a finite",
    ),
    "no number at all": ("[optimizer]\nclip_norm = nan", "optimizer.clip_norm", "found nan"),
    "a step after the end": ("[train]\nepochs = 3", "train", "epochs is 3, expected at least optimizer.step_epoch, 15"),
    "a step after the default end": (
        "[optimizer]\nstep_epoch = 21",
        "train",
        "epochs is 20, expected at least optimizer.step_epoch, 21",
    ),
    "one word for a list": (
        "[train]\nlanguages = 'en'",
        "train.languages",
        "found 'en': input should be a valid tuple",
    ),
    "a number in the list": ("[train]\nlanguages = ['en', 3]", "train.languages.1", "found 3: input should be a"),
    "a seed beyond 32 bits": ("[train]\nseed = 5000000", "train.seed", "less than or equal to 4000000"),
    "a value for a section": ("train = 3", "train", "found 3: input should be a valid dictionary"),
    "a table for a value": ("[train.seed]\na = 1", "train.seed", "input should be a valid integer"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_each_error_names_file_field_and_what_is_expected(tmp_path: Path, kind: str) -> None:
    text, field, reason = WRONG[kind]
    path = write(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        load_config(path, ContextAttentionConfig)
    message = str(caught.value)
    assert message.startswith(f"{path}, field '{field}': ")
    assert reason in message


def test_an_override_is_checked_as_the_file_is(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"mine\.toml, field 'train\.epochs': found 0"):
        load_config(write(tmp_path, ""), ContextAttentionConfig, epochs=0)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"[train\n", "not valid TOML"),
        (b"[train]\nseed = 1\nseed = 2", "not valid TOML"),
    ],
)
def test_files_that_are_not_toml(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=rf"mine\.toml: .*{reason}"):
        load_config(path, ContextAttentionConfig)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_files_of_windows_editors(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes("# größer\r\n[train]\r\nseed = 3\r\n".encode(encoding))
    assert load_config(path, ContextAttentionConfig).train.seed == 3


def test_files_that_can_not_be_read(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"gone\.toml: no such file"):
        load_config(tmp_path / "gone.toml", ContextAttentionConfig)
    (tmp_path / "latin.toml").write_bytes(b"# gr\xfcn\n# \xfc\n")
    with pytest.raises(ConfigError, match=r"latin\.toml, line 1: found the byte 0xfc, expected UTF-8 text\. It looks"):
        load_config(tmp_path / "latin.toml", ContextAttentionConfig)
    with pytest.raises(ConfigError, match="can't be read"):
        load_config(tmp_path, ContextAttentionConfig)


def test_the_cosine_rises_then_falls_to_zero(tmp_path: Path) -> None:
    text = "[optimizer]\nschedule = 'cosine'\nlearning_rate = 0.5\nwarmup_share = 0.25"
    rate = load_config(write(tmp_path, text), ContextAttentionConfig).optimizer.optimizer(10, 4)._learning_rate
    steps = np.array([float(rate(step)) for step in range(41)])
    np.testing.assert_allclose(steps[:11], np.linspace(0, 0.5, 11), atol=1e-6)
    np.testing.assert_allclose(steps[10:], 0.25 * (1 + np.cos(np.pi * np.arange(31) / 30)), atol=1e-6)


def test_without_warmup_the_cosine_starts_at_its_height(tmp_path: Path) -> None:
    text = "[optimizer]\nschedule = 'cosine'\nlearning_rate = 0.5\nwarmup_share = 0.0"
    rate = load_config(write(tmp_path, text), ContextAttentionConfig).optimizer.optimizer(10, 4)._learning_rate
    assert float(rate(0)) == pytest.approx(0.5)
    assert float(rate(40)) == pytest.approx(0.0, abs=1e-7)


def test_the_step_falls_after_its_epoch(tmp_path: Path) -> None:
    text = "[optimizer]\nlearning_rate = 0.5\nstep_epoch = 2\nstep_factor = 0.1"
    rate = load_config(write(tmp_path, text), ContextAttentionConfig).optimizer.optimizer(10, 4)._learning_rate
    assert [float(rate(step)) for step in (0, 19, 20, 21)] == pytest.approx([0.5, 0.5, 0.5, 0.05])
