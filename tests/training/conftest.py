"""A tiny dataset folder, a configuration with every source of randomness, and the recipe run on them."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import h5py
import keras
import numpy as np
import pytest

from vse_zoo import registry
from vse_zoo.data.dataset import Dataset, write_dataset
from vse_zoo.data.records import Record
from vse_zoo.training import Run
from vse_zoo.workflow import train as run_recipe

WORDS = {
    "en": ["red", "green", "blue", "dog", "cat", "bird", "small"],
    "de": ["rot", "grün", "blau", "Hund", "Katze", "Vogel"],
}
CONFIG = """
[model]
units = 8
heads = 2
attention_dim = 4
word_dim = 8
dropout = 0.3
[ranking]
kind = "contrastive"
learnable = true
[optimizer]
learning_rate = 0.01
schedule = "cosine"
[train]
epochs = 3
batch_size = 5
minimum_count = 1
"""


def dataset(folder: Path, name: str = "tiny", images: int = 40, seed: int = 0) -> Dataset:
    """Images with random regions and three random captions in each of two languages; some have no German."""
    random = np.random.default_rng(seed)
    records = [
        Record(
            f"{number}.jpg",
            ("train", "train", "train", "dev", "test")[number % 5],
            {
                language: [" ".join(random.choice(words, random.integers(1, 6))) for _ in range(3)]
                for language, words in WORDS.items()
                if language == "en" or number % 7
            },
        )
        for number in range(images)
    ]
    source = {"kind": "folder", "root": "."}
    empty = write_dataset(folder / name, records, name=name, image_source=source, languages=tuple(WORDS))
    np.save(folder / "regions.npy", random.normal(size=(images, 4, 6)).astype("float16"))
    return empty.attach_regions(folder / "regions.npy", None, backbone="random", grid=None, left_out={})


@pytest.fixture(scope="session")
def make_dataset() -> Callable[..., Dataset]:
    return dataset


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return dataset(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="session")
def config_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("config") / "tiny.toml"
    path.write_text(CONFIG)
    return path


@pytest.fixture(scope="session")
def train(tiny: Dataset, config_file: Path) -> Callable[..., None]:
    """Runs recipes/context_attention.py into a folder."""

    def run(out: Path, data: Path = tiny.path, config: Path = config_file, **options: Any) -> None:
        run_recipe("context_attention", data, out, config=str(config), **options)

    return run


@pytest.fixture(scope="session")
def whole_run(train: Callable[..., None], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run of three epochs that nothing interrupted."""
    folder = tmp_path_factory.mktemp("whole") / "run"
    train(folder)
    return folder


@pytest.fixture
def load_recipe(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    """A recipe as a module, with recipes/ on the path as it is when the script is run."""

    def load(name: str) -> ModuleType:
        monkeypatch.syspath_prepend(str(registry.recipes()))
        spec = importlib.util.spec_from_file_location(name, registry.recipes() / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        before = set(sys.modules)
        spec.loader.exec_module(module)
        for other in {path.stem for path in registry.recipes().glob("*.py")} & (set(sys.modules) - before):
            sys.modules.pop(other)
        return module

    return load


class RaiseAt(keras.callbacks.Callback):
    """Raises an error at the end of one batch of one epoch."""

    def __init__(self, error: BaseException, epoch: int, batch: int) -> None:
        super().__init__()
        self.error, self.place = error, (epoch, batch)

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self.epoch = epoch

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        if (self.epoch, batch) == self.place:
            raise self.error


@pytest.fixture
def interrupt(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Makes the next runs raise an error at the end of a batch."""
    original = Run.callbacks

    def plan(error: BaseException, epoch: int, batch: int = 3) -> None:
        monkeypatch.setattr(Run, "callbacks", lambda self, data: [*original(self, data), RaiseAt(error, epoch, batch)])

    return plan


def arrays_of(path: Path) -> dict[str, np.ndarray]:
    """Every array of an HDF5 file by its name."""
    found: dict[str, np.ndarray] = {}
    with h5py.File(path) as file:
        file.visititems(lambda name, item: found.update({name: item[()]}) if isinstance(item, h5py.Dataset) else None)
    return found


@pytest.fixture(scope="session")
def assert_same_weights() -> Callable[[Path, Path], None]:
    """Asserts that two weight files hold the same arrays, to the last bit."""

    def compare(one: Path, other: Path) -> None:
        first, second = arrays_of(one), arrays_of(other)
        assert len(first) > 10
        assert first.keys() == second.keys()
        assert [name for name in first if first[name].tobytes() != second[name].tobytes()] == []

    return compare
