"""Photos of one colour each, and an encoder whose vectors are these colours: what should be found is known."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from vse_zoo.search import IndexSettings, Update, update_index

COLOURS = {
    "red": (250, 5, 5),
    "green": (5, 250, 5),
    "blue": (5, 5, 250),
    "grey": (120, 120, 120),
    "pink": (250, 150, 160),
}


class ColourEncoder:
    """The mean colour as a unit vector (3,); remembers what it was given."""

    image_size = 8
    shape = (3,)

    def __init__(self) -> None:
        self.seen: list[tuple[int, ...]] = []

    def encode(self, pixels: NDArray[np.uint8]) -> NDArray[np.float32]:
        assert pixels.shape[1:] == (8, 8, 3)
        assert pixels.dtype == np.uint8
        means = pixels.reshape(len(pixels), -1, 3).mean(axis=1)
        self.seen += [tuple(mean) for mean in means.round().astype(int).tolist()]
        return (means / np.linalg.norm(means, axis=1, keepdims=True)).astype(np.float32)


def paint(path: Path, colour: tuple[int, ...], size: tuple[int, int] = (20, 12)) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", size, colour).save(path)
    return path


@pytest.fixture
def colours() -> dict[str, tuple[int, int, int]]:
    """What the photos are named after."""
    return dict(COLOURS)


@pytest.fixture(name="paint")
def painting() -> Callable[..., Path]:
    """Writes a picture of one colour: path, colour and perhaps its size."""
    return paint


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    for name, colour in COLOURS.items():
        paint(tmp_path / "photos" / f"{name}.png", colour)
    return tmp_path / "photos"


@pytest.fixture
def settings(photos: Path) -> IndexSettings:
    return IndexSettings(
        photos=str(photos),
        preset="colours",
        preset_folder=str(photos.parent / "preset"),
        fingerprint="1",
        similarity="embedding",
        shape=(3,),
        image_size=8,
    )


@pytest.fixture
def encoder() -> ColourEncoder:
    return ColourEncoder()


@pytest.fixture
def run(tmp_path: Path, settings: IndexSettings, encoder: ColourEncoder) -> Callable[..., Update]:
    """Updates the index in ``tmp_path / "index"``."""
    return lambda batch_size=2: update_index(tmp_path / "index", settings, lambda: encoder, batch_size)
