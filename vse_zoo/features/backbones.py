"""Backbones by name: the built-in one, any ``keras:`` application or layer of it, any ``kerashub:`` preset."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import keras

from vse_zoo.errors import PresetError, VSEZooError, located
from vse_zoo.features.backbone import Backbone
from vse_zoo.features.backbone_names import BUILT_IN, IMAGENET, KERAS, KERAS_HUB
from vse_zoo.features.efficientnet_lite import FEATURES, fold_batch_norm, load_efficientnet_lite0
from vse_zoo.features.keras_backbones import application_names, keras_application, keras_hub_backbone

__all__ = ["BUILT_IN", "IMAGENET", "get", "names", "recorded"]

_GIVE = "Pass backbone=vse_zoo.features.backbones.get(NAME, GRID), or compute regions elsewhere for encode_image."


def names() -> list[str]:
    """Every name that `get` knows without asking anyone; ``kerashub:<preset or folder>`` is open-ended."""
    return [BUILT_IN, *(KERAS + name for name in application_names())]


def get(name: str, grid: tuple[int, int] | None = None, weights: str | Path = IMAGENET) -> Backbone:
    """The backbone ``name`` with ``grid`` regions (rows, columns); 7×7 by default, 1×1 where it gives one vector.

    ``keras:<application>/<layer>``, such as keras:VGG19/fc2, is the output of a layer of the network with its
    classifier. ``weights`` is for ``keras:`` names: "imagenet" (downloaded by Keras, cached) or a weights file. An
    unknown name, or weights that can't be had, is a `PresetError`; a grid finer than the feature map a `ConfigError`.

    It computes in float32, whatever Keras' policy is: other precisions give other features.
    """
    with _float32():
        return _get(name, grid, weights)


def recorded(owner: str, name: str | None, grid: Sequence[int] | None) -> Backbone:
    """The backbone that a model was trained with, by what its record says.

    Args:
        owner: what messages call the model.
        name: of the backbone; None where nothing is recorded.
        grid: rows and columns of the regions.

    Raises:
        PresetError: nothing is recorded, or the backbone is none that `get` knows or can load.
    """
    if name is None or grid is None:
        missing = "which backbone computed its regions" if name is None else f"the grid of its regions by {name!r}"
        field = f"'dataset.{'backbone' if name is None else 'grid'}'"
        problem = f"nothing records {missing} (field {field} in the metadata.json of its preset)."
        raise PresetError(located(owner, problem, do=f"If you know it, record it there. {_GIVE}"))
    try:
        return get(name, (grid[0], grid[1]))
    except VSEZooError as error:
        problem = f"its regions come from {name!r}, which can't be computed here: {error}"
        raise PresetError(located(owner, problem, do=_GIVE)) from error


@contextmanager
def _float32() -> Iterator[None]:
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy("float32")
    try:
        yield
    finally:
        keras.config.set_dtype_policy(before)


def _get(name: str, grid: tuple[int, int] | None, weights: str | Path) -> Backbone:
    if weights != IMAGENET and not name.startswith(KERAS):
        raise PresetError(
            f"{name}: has weights of its own, found {str(weights)!r}. Weights files are for {KERAS} names."
        )
    if name == BUILT_IN:
        return _efficientnet_lite0(grid)
    if name.startswith(KERAS):
        return keras_application(name, grid, weights)
    if name.startswith(KERAS_HUB):
        return keras_hub_backbone(name, grid)
    known = f"{BUILT_IN}, keras:<application>[/<layer>] (such as keras:VGG19/fc2), kerashub:<preset or folder>"
    raise PresetError(f"no backbone is called {name!r}. Known are: {known}.")


def _efficientnet_lite0(grid: tuple[int, int] | None) -> Backbone:
    model = fold_batch_norm(load_efficientnet_lite0())
    network = keras.Model(model.input, model.get_layer(FEATURES).output)
    return Backbone(BUILT_IN, network, lambda pixels: pixels, image_size=model.input_shape[1], grid=grid)
