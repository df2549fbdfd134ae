"""Backbones from keras.applications and from KerasHub presets."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

import keras

from vse_zoo.errors import PresetError
from vse_zoo.features.backbone import Backbone, first_line
from vse_zoo.features.backbone_names import IMAGENET, KERAS, KERAS_HUB

__all__ = ["application_names", "keras_application", "keras_hub_backbone"]

# What each application was trained on; all others on 224.
IMAGE_SIZES = {
    "EfficientNetB1": 240,
    "EfficientNetB2": 260,
    "EfficientNetB3": 300,
    "EfficientNetB4": 380,
    "EfficientNetB5": 456,
    "EfficientNetB6": 528,
    "EfficientNetB7": 600,
    "EfficientNetV2B1": 240,
    "EfficientNetV2B2": 260,
    "EfficientNetV2B3": 300,
    "EfficientNetV2S": 384,
    "EfficientNetV2M": 480,
    "EfficientNetV2L": 480,
    "InceptionResNetV2": 299,
    "InceptionV3": 299,
    "NASNetLarge": 331,
    "Xception": 299,
}


def application_names() -> list[str]:
    """The networks in keras.applications, by the names of their functions."""
    return sorted(name for name, _ in inspect.getmembers(keras.applications, inspect.isfunction))


def keras_application(name: str, grid: tuple[int, int] | None, weights: str | Path = IMAGENET) -> Backbone:
    """``keras:<application>`` without its classifier, or ``keras:<application>/<layer>`` of the one with classifier.

    Fed as its own ``preprocess_input`` says. ``weights``: "imagenet", or a file of weights of the network without or
    with classifier. Unknown names, failed downloads and files that don't fit are a `PresetError`.
    """
    application, _, layer = name.removeprefix(KERAS).partition("/")
    if application not in application_names():
        raise PresetError(f"keras.applications has no {application!r}. It has: {', '.join(application_names())}.")
    build = getattr(keras.applications, application)
    prepare = sys.modules[build.__module__].preprocess_input
    size = IMAGE_SIZES.get(application, 224)
    local = weights != IMAGENET
    try:
        network = build(include_top=bool(layer), weights=None if local else IMAGENET, input_shape=(size, size, 3))
        if local:
            network.load_weights(weights)
    except (
        Exception
    ) as error:  # Keras raises a bare Exception for a failed download, ValueError or OSError for a bad file
        do = "Check the file." if local else "Check the network, or give a weights file."
        raise PresetError(f"{name}: no weights from {str(weights)!r} ({first_line(error)}). {do}") from error
    if layer:
        network = _until(network, name, layer)
    return Backbone(name, network, prepare, image_size=size, grid=grid)


def _until(network: keras.Model, name: str, layer: str) -> keras.Model:
    """The network up to one of its layers."""
    names = [each.name for each in network.layers]
    if layer not in names:
        raise PresetError(f"{name}: found no layer {layer!r}, expected one of: {', '.join(names)}.")
    return keras.Model(network.input, network.get_layer(layer).output)


def keras_hub_backbone(name: str, grid: tuple[int, int] | None) -> Backbone:
    """``kerashub:<preset>``: an image backbone and its ImageConverter, by preset name or from a local preset folder."""
    import keras_hub  # takes seconds to import, and only this kind of backbone needs it

    preset = name.removeprefix(KERAS_HUB)
    try:
        network = keras_hub.models.Backbone.from_preset(preset)
        converter = keras_hub.layers.ImageConverter.from_preset(preset)
    except Exception as error:  # downloads, folders and configs each fail in their own way, by no common base class
        do = "Check the name and the network, or pass the folder of a downloaded preset."
        raise PresetError(
            f"{name}: no preset of an image backbone can be loaded ({first_line(error)}). {do}"
        ) from error
    size = converter.image_size
    if not size or size[0] is None or size[0] != size[1]:
        raise PresetError(f"{name}: its image converter gives pictures of size {size}; a fixed square is needed.")
    return Backbone(name, network, converter, image_size=int(size[0]), grid=grid)
