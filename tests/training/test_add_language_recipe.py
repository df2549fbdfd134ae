"""A language added to a trained run: the old ones and the pictures stay to the bit, resuming changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import vse_zoo
from vse_zoo.data.dataset import Dataset
from vse_zoo.errors import ConfigError
from vse_zoo.training import read_history
from vse_zoo.workflow import train as run_recipe

pytestmark = pytest.mark.usefixtures("module_without_graphs")

CONFIG = """
[language]
model = {model!r}
name = "{name}"
minimum_count = 1
[optimizer]
learning_rate = 0.01
schedule = "cosine"
[train]
epochs = 3
batch_size = 5
"""


@pytest.fixture(scope="module")
def english(
    module_without_graphs: None, train: Callable[..., None], config_file: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A run that knows English only."""
    folder = tmp_path_factory.mktemp("english")
    config = folder / "english.toml"
    config.write_text(config_file.read_text() + 'languages = ["en"]\n')
    train(folder / "run", config=config, epochs=1)
    return folder / "run"


def added(folder: Path, model: Path, data: Path, name: str = "de", **options: bool) -> Path:
    config = folder / "german.toml"
    config.write_text(CONFIG.format(model=str(model), name=name))
    run_recipe("add_language", data, folder / "run", config=str(config), **options)
    return folder / "run"


@pytest.fixture(scope="module")
def bilingual(english: Path, tiny: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return added(tmp_path_factory.mktemp("bilingual"), english, tiny.path)


def test_pictures_and_english_stay_and_german_is_learned(english: Path, bilingual: Path, tiny: Dataset) -> None:
    before, after = vse_zoo.load(english), vse_zoo.load(bilingual)
    assert after.languages == ("en", "de")
    regions, mask = tiny.regions(tiny.indices("test"))
    np.testing.assert_array_equal(after.encode_image(regions, mask), before.encode_image(regions, mask))
    sentences = ["red dog", "small blue bird"]
    np.testing.assert_array_equal(after.encode_text(sentences), before.encode_text(sentences))
    losses = [float(row["loss"]) for row in read_history(bilingual)]
    assert losses[-1] < losses[0]


def test_a_resumed_run_has_the_same_weights(
    english: Path,
    bilingual: Path,
    tiny: Dataset,
    tmp_path: Path,
    interrupt: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
    assert_same_weights: Callable[[Path, Path], None],
) -> None:
    interrupt(RuntimeError("killed"), epoch=1)
    with pytest.raises(RuntimeError, match="killed"):
        added(tmp_path, english, tiny.path)
    monkeypatch.undo()
    resumed = added(tmp_path, english, tiny.path, resume=True)
    assert_same_weights(resumed / "last.weights.h5", bilingual / "last.weights.h5")


def test_a_known_language_is_refused(english: Path, tiny: Dataset, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"language.name: found 'en', which .* knows; expected a new one"):
        added(tmp_path, english, tiny.path, name="en")
