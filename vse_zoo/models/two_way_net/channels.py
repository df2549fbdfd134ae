"""The two channels: the maps and hidden layers between the views, run forwards from x and backwards from y."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import keras

from vse_zoo.layers import LeakyBatchNorm, LocallyDense, TiedDense, TiedDropout
from vse_zoo.regularizers import InverseGamma

__all__ = ["Architecture", "Channels"]

Tensor = Any


@dataclass(frozen=True)
class Architecture:
    """Everything but the sizes of the views.

    Args:
        layer_sizes: sizes of the hidden layers, from x to y; k hidden layers are joined by k + 1 maps.
        position: number, from 1, of the hidden layer that holds the representation; half of the maps, rounded up, by
            default.
        parts: for each of the k + 1 maps the number of parts, 1 being a dense map; all dense by default.
        tied: False: each channel has kernels of its own.
        batch_norm: where it stands: "after" the activation, "before" it, or "none".
        negative_slope: of the leaky ReLU.
        dropout: rate on the hidden layers.
        tied_dropout: one mask for both channels; otherwise ordinary dropout in each.
        weight_decay: λ_w, of Σ ‖W‖² over the kernels.
        gamma_strength: λ_γ, of Σ 1/γ² over both channels.
        momentum: of the running statistics of batch normalisation.
        synchronized: batch statistics over the batches of all replicas, as of one device.
    """

    layer_sizes: tuple[int, ...]
    position: int
    parts: tuple[int, ...]
    tied: bool = True
    batch_norm: Any = "after"
    negative_slope: float = 0.3
    dropout: float = 0.5
    tied_dropout: bool = True
    weight_decay: float = 0.05
    gamma_strength: float = 0.05
    momentum: float = 0.99
    synchronized: bool = True

    @classmethod
    def options(cls) -> list[str]:
        """The names of everything but the layers' sizes."""
        return [field.name for field in fields(cls) if field.name != "layer_sizes"]

    @classmethod
    def of(
        cls,
        layer_sizes: Sequence[int],
        position: int | None = None,
        parts: Sequence[int] | None = None,
        **options: Any,
    ) -> Architecture:
        """Fills in the defaults and checks the sizes; a `ValueError` says what does not fit."""
        maps = len(layer_sizes) + 1
        position = (maps + 1) // 2 if position is None else position
        parts = (1,) * maps if parts is None else tuple(parts)
        if not layer_sizes or min(layer_sizes) < 1:
            raise ValueError(f"layer_sizes must be one size at least, each positive, got {list(layer_sizes)}.")
        if not 1 <= position <= len(layer_sizes):
            raise ValueError(f"position must be from 1 to {len(layer_sizes)}, the hidden layers, got {position}.")
        if len(parts) != maps:
            raise ValueError(f"parts must have {maps} numbers, one for each map, got {list(parts)}.")
        return cls(tuple(layer_sizes), position, parts, **options)

    def map(self, number: int, units: int, dtype: Any = None) -> TiedDense | LocallyDense:
        """Map ``number`` (from 0) to ``units``, with a dtype policy."""
        options: dict[str, Any] = {
            "tied": self.tied,
            "kernel_regularizer": keras.regularizers.L2(self.weight_decay),
            "name": f"map_{number + 1}",
            "dtype": dtype,
        }
        if self.parts[number] == 1:
            return TiedDense(units, **options)
        return LocallyDense(units, self.parts[number], **options)

    def norm(self, number: int, dtype: Any = None) -> LeakyBatchNorm:
        """Activation and normalisation of hidden layer ``number`` (from 0), with a dtype policy."""
        return LeakyBatchNorm(
            self.batch_norm,
            self.negative_slope,
            gamma_regularizer=InverseGamma(self.gamma_strength) if self.gamma_strength else None,
            momentum=self.momentum,
            synchronized=self.synchronized,
            name=f"norm_{number + 1}",
            dtype=dtype,
        )

    def dropout_layer(self, number: int, dtype: Any = None) -> TiedDropout | keras.layers.Dropout:
        """Dropout of hidden layer ``number`` (from 0), with a dtype policy."""
        kind = TiedDropout if self.tied_dropout else keras.layers.Dropout
        return kind(self.dropout, name=f"dropout_{number + 1}", dtype=dtype)


class Channels(keras.layers.Layer):
    """H and Ĥ: the same maps, forwards and transposed, with hidden layers normalised for each direction.

    Args:
        architecture: sizes and options.
        x_dim: size of view x.
        y_dim: size of view y.

    Call arguments:
        x: (B, x_dim).
        y: (B, y_dim).
        training: batch statistics and dropout.

    Returns:
        ``(H^j(x), Ĥ^j(y), ỹ = H(x), x̃ = Ĥ(y))``.
    """

    def __init__(self, architecture: Architecture, x_dim: int, y_dim: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        self.architecture = architecture
        self.sizes = (x_dim, *architecture.layer_sizes, y_dim)
        hidden = range(len(architecture.layer_sizes))
        dtype = self.dtype_policy
        self.maps = [architecture.map(number, units, dtype) for number, units in enumerate(self.sizes[1:])]
        self.norms = [architecture.norm(number, dtype) for number in hidden]
        self.dropouts = [architecture.dropout_layer(number, dtype) for number in hidden]

    def build(self, *_: Any) -> None:
        """Creates all weights; the sizes are the constructor's."""
        for layer, size in zip(self.maps, self.sizes, strict=False):
            layer.build((None, size))
        for norm, size in zip(self.norms, self.architecture.layer_sizes, strict=True):
            norm.build((None, size))
        self.built = True

    def call(self, x: Tensor, y: Tensor, training: bool = False) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Both channels; shapes in the class's documentation."""
        masks = self._masks(keras.ops.shape(x)[0], training)
        h = self.forward(x, 0, self.architecture.position, training, masks)
        g = self.backward(y, len(self.maps), self.architecture.position, training, masks)
        y_tilde = self.forward(h, self.architecture.position, len(self.maps), training, masks)
        x_tilde = self.backward(g, self.architecture.position, 0, training, masks)
        return h, g, y_tilde, x_tilde

    def forward(
        self, inputs: Tensor, start: int, stop: int, training: bool = False, masks: list[Tensor] | None = None
    ) -> Tensor:
        """From the activations of layer ``start`` (0 is view x) to those of layer ``stop``."""
        for number in range(start, stop):
            inputs = self._hidden(self.maps[number](inputs), number, False, training, masks)
        return inputs

    def backward(
        self, inputs: Tensor, start: int, stop: int, training: bool = False, masks: list[Tensor] | None = None
    ) -> Tensor:
        """From the activations of layer ``start`` (the number of maps is view y) to those of layer ``stop``."""
        for number in reversed(range(stop, start)):
            inputs = self._hidden(self.maps[number](inputs, reverse=True), number - 1, True, training, masks)
        return inputs

    def _hidden(self, inputs: Tensor, number: int, reverse: bool, training: bool, masks: list[Tensor] | None) -> Tensor:
        """What follows a map: nothing on the views, which are number −1 and the number of hidden layers."""
        if not 0 <= number < len(self.norms):
            return inputs
        inputs = self.norms[number](inputs, reverse=reverse, training=training)
        if not self.architecture.tied_dropout:
            return self.dropouts[number](inputs, training=training)
        return inputs if masks is None else inputs * masks[number]

    def _masks(self, batch: Tensor, training: bool) -> list[Tensor] | None:
        if not training or not self.architecture.tied_dropout or not self.architecture.dropout:
            return None
        return [
            dropout.draw(batch, units)
            for dropout, units in zip(self.dropouts, self.architecture.layer_sizes, strict=True)
        ]
