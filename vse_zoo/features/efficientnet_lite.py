"""EfficientNet-lite0 (Tan & Le 2019, arXiv:1905.11946; the lite variant of 2020: ReLU6, no squeeze-and-excitation)."""

from __future__ import annotations

from typing import NamedTuple

import keras
from keras import layers

from vse_zoo import presets
from vse_zoo.errors import PresetError, located
from vse_zoo.registry import saved_models

__all__ = ["efficientnet_lite0", "fold_batch_norm", "load_efficientnet_lite0"]

EPSILON = 1e-3
FEATURES = "head_relu6"


class Stage(NamedTuple):
    """A run of inverted residual blocks; only its first block strides and changes the number of channels."""

    repeats: int
    kernel: int
    stride: int
    expansion: int
    channels: int


STAGES = (
    Stage(1, 3, 1, 1, 16),
    Stage(2, 3, 2, 6, 24),
    Stage(2, 5, 2, 6, 40),
    Stage(3, 3, 2, 6, 80),
    Stage(3, 5, 1, 6, 112),
    Stage(4, 5, 2, 6, 192),
    Stage(1, 3, 1, 6, 320),
)
STEM_CHANNELS = 32
HEAD_CHANNELS = 1280


def efficientnet_lite0(image_size: int = 224, classes: int = 1000, *, batch_norm: bool = True) -> keras.Model:
    """The network with random weights: pixels (B, S, S, 3) in 0…255, RGB → logits (B, classes).

    The layer ``head_relu6`` gives the feature map (B, S/32, S/32, 1280). Without ``batch_norm`` the convolutions carry
    biases instead; `fold_batch_norm` fills that form.
    """
    pixels = keras.Input((image_size, image_size, 3), name="pixels")
    x = layers.Rescaling(1 / 128, offset=-127 / 128, name="rescale")(pixels)
    x = _conv(x, STEM_CHANNELS, "stem", kernel=3, stride=2, batch_norm=batch_norm)
    x = layers.ReLU(6.0, name="stem_relu6")(x)
    block = 0
    for stage in STAGES:
        for repeat in range(stage.repeats):
            stride = stage.stride if repeat == 0 else 1
            x = _inverted_residual(x, stage, stride, f"block{block}", batch_norm)
            block += 1
    x = _conv(x, HEAD_CHANNELS, "head", batch_norm=batch_norm)
    x = layers.ReLU(6.0, name=FEATURES)(x)
    x = layers.GlobalAveragePooling2D(name="pool")(x)
    x = layers.Dropout(0.2, name="dropout")(x)
    return keras.Model(pixels, layers.Dense(classes, name="logits")(x), name="efficientnet_lite0")


def _inverted_residual(
    inputs: keras.KerasTensor, stage: Stage, stride: int, name: str, batch_norm: bool
) -> keras.KerasTensor:
    """1×1 expansion → depthwise k×k → linear 1×1 projection, plus the input where the shapes agree."""
    x = inputs
    if stage.expansion != 1:
        x = _conv(x, x.shape[-1] * stage.expansion, f"{name}_expand", batch_norm=batch_norm)
        x = layers.ReLU(6.0, name=f"{name}_expand_relu6")(x)
    x = layers.DepthwiseConv2D(
        stage.kernel, stride, padding="same", use_bias=not batch_norm, name=f"{name}_depthwise_conv"
    )(x)
    x = _norm(x, f"{name}_depthwise", batch_norm)
    x = layers.ReLU(6.0, name=f"{name}_depthwise_relu6")(x)
    x = _conv(x, stage.channels, f"{name}_project", batch_norm=batch_norm)
    if stride == 1 and inputs.shape[-1] == stage.channels:
        x = layers.Add(name=f"{name}_add")([x, inputs])
    return x


def _conv(
    x: keras.KerasTensor, channels: int, name: str, *, kernel: int = 1, stride: int = 1, batch_norm: bool
) -> keras.KerasTensor:
    conv = layers.Conv2D(channels, kernel, stride, padding="same", use_bias=not batch_norm, name=f"{name}_conv")
    return _norm(conv(x), name, batch_norm)


def _norm(x: keras.KerasTensor, name: str, batch_norm: bool) -> keras.KerasTensor:
    return layers.BatchNormalization(epsilon=EPSILON, name=f"{name}_bn")(x) if batch_norm else x


def fold_batch_norm(model: keras.Model) -> keras.Model:
    """The same function at inference with every normalisation folded into its convolution: W·γ/σ and β − μ·γ/σ."""
    folded = efficientnet_lite0(model.input_shape[1], model.output_shape[-1], batch_norm=False)
    for layer in folded.layers:
        if not layer.weights:
            continue
        kernel, *bias = model.get_layer(layer.name).get_weights()
        if layer.name.endswith("_conv"):
            gamma, beta, mean, variance = model.get_layer(layer.name.removesuffix("conv") + "bn").get_weights()
            scale = gamma / (variance + EPSILON) ** 0.5
            depthwise = isinstance(layer, layers.DepthwiseConv2D)  # its kernel is (k, k, channels, 1)
            kernel, bias = kernel * (scale[:, None] if depthwise else scale), [beta - mean * scale]
        layer.set_weights([kernel, *bias])
    return folded


def load_efficientnet_lite0() -> keras.Model:
    """The network with its ImageNet weights, from the repository's or the package's saved_models/efficientnet_lite0.

    Raises:
        PresetError: the weights are missing, damaged or changed, or their format is newer than this version.
    """
    weights = saved_models() / "efficientnet_lite0" / "model.weights.h5"
    if not weights.is_file():
        do = "Reinstall vse-zoo, or run recipes/convert_efficientnet_lite0.py."
        raise PresetError(located(weights, "the built-in weights are missing.", do=do))
    presets.check(weights.parent)
    model = efficientnet_lite0()
    model.load_weights(weights)
    return model
