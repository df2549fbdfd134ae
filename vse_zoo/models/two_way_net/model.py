"""2-Way Nets: linking image and text with tied two-channel networks (Eisenschtat and Wolf, CVPR 2017)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from keras import ops

from vse_zoo.features.fisher import FisherVectors
from vse_zoo.layers import Standardization, Whitening, l2_normalize
from vse_zoo.losses import CanonicalDistance, ContrastiveLoss, Decorrelation, SquaredDistance, TripletLoss
from vse_zoo.models.base import VSEModel
from vse_zoo.models.two_way_net.channels import Architecture, Channels
from vse_zoo.ops.replicas import gather_rows, share
from vse_zoo.preprocessing import TextPreprocessor

__all__ = ["TwoWayNet"]

Tensor = Any
Array = np.ndarray
_OBJECTS = ("preprocessor", "sentences", "canonical", "decorrelation", "ranking_loss")
_SIZES = ("x_dim", "y_dim", "y_components", "y_ridge", "input_dropout")
_WEIGHTS = ("reconstruction_weight", "mid_weight", "canonical_weight", "decorrelation_weight", "ranking_weight")


@keras.saving.register_keras_serializable(package="vse_zoo")
class TwoWayNet(VSEModel):
    """Maps view x to view y through hidden layers, and y back to x through their transposes; they meet in the middle.

    The loss is ``w_r (L_x + L_y) + w_h L_h + λ_decov R_decov + λ_w R_w + λ_γ R_γ``, and what you add to it. The views
    are two matrices, or pictures (the mean of their regions) and sentences (Fisher vectors).

    Args:
        layer_sizes: sizes of the hidden layers between x and y.
        x_dim: size of view x; of a region's vector for pictures.
        y_dim: size of view y; that of the Fisher vectors for sentences.
        preprocessor: turns sentences of one language into word ids; None for two matrices.
        sentences: turns word ids into view y; None for two matrices.
        y_components: number of principal components that stand for view y, once `adapt` was called; all dimensions
            by default, as in the paper.
        y_ridge: of their `vse_zoo.layers.Whitening`.
        input_dropout: rate on both views in training; the reconstructions are compared with the whole views.
        reconstruction_weight: w_r of L_x = ‖x − x̃‖² and L_y = ‖y − ỹ‖².
        mid_weight: w_h of L_h, the squared distance of the two mid representations.
        canonical_weight: w_c of ``canonical``, their distance after linear CCA; not in the paper.
        canonical: a `CanonicalDistance`.
        decorrelation_weight: λ_decov.
        decorrelation: R_decov of one view; the sum over both views counts.
        ranking_weight: of ``ranking_loss`` on the correlations of mid representations; not in the paper.
        ranking_loss: a `ContrastiveLoss` by default.
        options: the architecture: ``position``, ``parts``, ``tied``, ``batch_norm``, ``negative_slope``, ``dropout``,
            ``tied_dropout``, ``weight_decay``, ``gamma_strength``, ``momentum``, ``synchronized``; see
            `vse_zoo.models.two_way_net.channels.Architecture`.

    Call arguments:
        batch: ``{"x": (B, x_dim), "y": (B, y_dim)}``, or the batch contract's ``regions``, ``region_mask``, ``text``
            and, for a ranking loss, ``image_id``.

    Returns:
        ``{"x", "y"}`` the views, ``{"h", "g"}`` their mid representations H^j(x) and Ĥ^j(y), ``{"x_reconstructed",
        "y_reconstructed"}``.

    Raises:
        ValueError: sizes that do not fit.
    """

    loss_arguments = ("canonical", "decorrelation", "ranking_loss")

    def __init__(
        self,
        layer_sizes: Sequence[int],
        x_dim: int,
        y_dim: int,
        preprocessor: TextPreprocessor | None = None,
        sentences: FisherVectors | None = None,
        y_components: int | None = None,
        y_ridge: float = 1e-3,
        input_dropout: float = 0.0,
        reconstruction_weight: float = 1.0,
        mid_weight: float = 1.0,
        canonical_weight: float = 0.0,
        canonical: CanonicalDistance | None = None,
        decorrelation_weight: float = 0.05,
        decorrelation: Decorrelation | None = None,
        ranking_weight: float = 0.0,
        ranking_loss: ContrastiveLoss | TripletLoss | None = None,
        **options: Any,
    ) -> None:
        architecture = {option: options.pop(option) for option in Architecture.options() if option in options}
        super().__init__(preprocessor, x_dim, **options)
        _check_text(preprocessor, sentences, y_dim)
        self.options = architecture
        self.layer_sizes = tuple(layer_sizes)
        policy: dict[str, Any] = {"dtype": self.dtype_policy}
        self.x_dim = x_dim
        self.y_dim = y_dim
        self.sentences: Any = sentences
        self.reconstruction_weight = reconstruction_weight
        self.mid_weight = mid_weight
        self.canonical_weight = canonical_weight
        self.canonical = canonical or CanonicalDistance(**policy)
        self.decorrelation_weight = decorrelation_weight
        self.decorrelation = decorrelation or Decorrelation(**policy)
        self.ranking_weight = ranking_weight
        self.ranking_loss = ranking_loss or ContrastiveLoss(**policy)
        self.distance = SquaredDistance(**policy)
        self.y_components = y_components
        self.y_ridge = y_ridge
        self.input_dropout = input_dropout
        self.scale_x = Standardization(name="scale_x", **policy)
        scale_y = partial(Whitening, y_components, y_ridge) if y_components else Standardization
        self.scale_y = scale_y(name="scale_y", **policy)
        self.drop = keras.layers.Dropout(input_dropout, name="input_dropout", **policy)
        shape = Architecture.of(layer_sizes, **architecture)
        self.channels = Channels(shape, x_dim, y_components or y_dim, name="channels", **policy)
        optional = [name for name in ("canonical", "ranking") if getattr(self, f"{name}_weight")]
        names = ("reconstruction_x", "reconstruction_y", "mid", "decorrelation", *optional)
        self.loss_parts = {part: keras.metrics.Mean(part) for part in names}

    def build(self, input_shape: Any = None) -> None:
        """Creates all weights; the sizes are the constructor's, so that no input is needed."""
        self.scale_x.build((None, self.x_dim))
        self.scale_y.build((None, self.y_dim))
        self.channels.build()
        if self.sentences is not None and not self.sentences.built:
            self.sentences.build((None, None))
        self.built = True

    def adapt(self, x: Array, y: Array) -> None:
        """Standardises view x, and standardises or whitens view y, by training rows (N, x_dim) and (M, y_dim).

        Wide views of small numbers, such as Fisher vectors, need it: normalisation would damp what lies below its ε.
        """
        self.scale_x.adapt(x)
        self.scale_y.adapt(y)

    def call(self, batch: Mapping[str, Any], training: bool = False) -> dict[str, Tensor]:
        """Both channels on a batch; shapes in the class's documentation."""
        x, y = self._views(batch)
        dropped = self.drop(x, training=training), self.drop(y, training=training)
        h, g, y_tilde, x_tilde = self.channels(*dropped, training=training)
        return {"x": x, "y": y, "h": h, "g": g, "x_reconstructed": x_tilde, "y_reconstructed": y_tilde}

    def _views(self, batch: Mapping[str, Any]) -> tuple[Tensor, Tensor]:
        if self.sentences is None:
            return self.scale_x(batch["x"]), self.scale_y(batch["y"])
        pictures = _pooled(batch["regions"], batch["region_mask"])
        return self.scale_x(pictures), self.scale_y(self.sentences(batch["text"][self.languages[0]]))

    def compute_loss(
        self, x: Any = None, y: Any = None, y_pred: Any = None, sample_weight: Any = None, training: bool = True
    ) -> Tensor:
        """The compound loss, over the batches of all replicas; its parts are updated as metrics."""
        regularization = self.losses
        h, g = gather_rows(y_pred["h"]), gather_rows(y_pred["g"])
        parts = {
            "reconstruction_x": self._reconstruction(y_pred["x"], y_pred["x_reconstructed"]),
            "reconstruction_y": self._reconstruction(y_pred["y"], y_pred["y_reconstructed"]),
            "mid": self.distance(h, g),
            "decorrelation": self.decorrelation(h) + self.decorrelation(g),
        }
        if self.canonical_weight:
            parts["canonical"] = self.canonical(h, g)
        if self.ranking_weight:
            parts["ranking"] = self._ranking(x, h, g)
        for name, value in parts.items():
            self.loss_parts[name].update_state(value)
        return share(*(self._weight(name) * value for name, value in parts.items()), *regularization)

    def _reconstruction(self, view: Tensor, reconstructed: Tensor) -> Tensor:
        # Distances are gathered, not the views, which are wide.
        return ops.mean(gather_rows(self.distance.rows(view, reconstructed)))

    def _weight(self, part: str) -> float:
        return float(getattr(self, f"{part.removesuffix('_x').removesuffix('_y')}_weight"))

    def _ranking(self, batch: Mapping[str, Any], h: Tensor, g: Tensor) -> Tensor:
        ids = gather_rows(batch["image_id"]) if "image_id" in batch else ops.arange(ops.shape(h)[0])
        step = self.optimizer.iterations if getattr(self, "optimizer", None) else None
        return self.ranking_loss(ops.matmul(_unit(h), ops.transpose(_unit(g))), ids, step=step)

    def embed_image(self, regions: Tensor, region_mask: Tensor) -> Tensor:
        """(B, R, D) regions and (B, R) mask to (B, E) mid representations, centred and of unit length."""
        return _unit(self._encode_x(_pooled(regions, region_mask)))

    def embed_text(self, ids: Tensor, language: str) -> Tensor:
        """(B, T) word ids to (B, E) mid representations, centred and of unit length."""
        return _unit(self._encode_y(self.sentences(ids)))

    def encode_x(self, x: Array, batch_size: int = 1024) -> Array:
        """(N, x_dim) rows of view x to their mid representations H^j(x), (N, E) float32."""
        return self._by_batch("encode_x", x, self.x_dim, batch_size)

    def encode_y(self, y: Array, batch_size: int = 1024) -> Array:
        """(N, y_dim) rows of view y to their mid representations Ĥ^j(y), (N, E) float32."""
        return self._by_batch("encode_y", y, self.y_dim, batch_size)

    def reconstruct_x(self, y: Array, batch_size: int = 1024) -> Array:
        """(N, y_dim) rows of view y to the x they call for, x̃ = Ĥ(y), (N, x_dim) float32."""
        return self._by_batch("reconstruct_x", y, self.y_dim, batch_size)

    def reconstruct_y(self, x: Array, batch_size: int = 1024) -> Array:
        """(N, x_dim) rows of view x to the y they call for, ỹ = H(x), (N, y_dim) float32."""
        return self._by_batch("reconstruct_y", x, self.x_dim, batch_size)

    def similarity(self, images: Array, texts: Array) -> Array:
        """Correlations (N, M) of mid representations (N, E) and (M, E), or of what `encode_*` give."""
        return _correlations_ready(images) @ _correlations_ready(texts).T

    def _by_batch(self, name: str, rows: Array, size: int, batch_size: int) -> Array:
        rows = np.asarray(rows)
        if rows.ndim != 2 or rows.shape[1] != size or not len(rows):
            raise ValueError(f"{name}: found shape {rows.shape}, expected (rows, {size}) and at least one row.")
        function = self.view_functions[name]
        return np.concatenate(
            [
                function(rows[start : start + batch_size].astype("float32")).numpy()
                for start in range(0, len(rows), batch_size)
            ]
        )

    def _encode_x(self, x: Tensor) -> Tensor:
        h = self.channels.forward(self.scale_x(x), 0, self.channels.architecture.position)
        return ops.cast(h, "float32")

    def _encode_y(self, y: Tensor) -> Tensor:
        g = self.channels.backward(self.scale_y(y), len(self.layer_sizes) + 1, self.channels.architecture.position)
        return ops.cast(g, "float32")

    def _reconstruct_x(self, y: Tensor) -> Tensor:
        return self.scale_x.inverse(self.channels.backward(self.scale_y(y), len(self.layer_sizes) + 1, 0))

    def _reconstruct_y(self, x: Tensor) -> Tensor:
        return self.scale_y.inverse(self.channels.forward(self.scale_x(x), 0, len(self.layer_sizes) + 1))

    # cached_property writes past Keras' attribute tracking, which would take the functions for layers' state.
    @cached_property
    def view_functions(self) -> dict[str, Any]:
        """``encode_x``, ``encode_y``, ``reconstruct_x`` and ``reconstruct_y`` by name, compiled: tensors to tensors."""
        rows_x, rows_y = (tf.TensorSpec([None, size], tf.float32) for size in (self.x_dim, self.y_dim))
        return {
            "encode_x": tf.function(self._encode_x, input_signature=[rows_x]),
            "encode_y": tf.function(self._encode_y, input_signature=[rows_y]),
            "reconstruct_x": tf.function(self._reconstruct_x, input_signature=[rows_y]),
            "reconstruct_y": tf.function(self._reconstruct_y, input_signature=[rows_x]),
        }

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        sizes = {"layer_sizes": list(self.layer_sizes)}
        sizes |= {name: getattr(self, name) for name in _SIZES}
        return {
            **super().get_config(),
            **sizes,
            **{name: getattr(self, name) for name in _WEIGHTS},
            **{name: keras.saving.serialize_keras_object(getattr(self, name)) for name in _OBJECTS},
            **self.options,
        }


def _pooled(regions: Tensor, mask: Tensor) -> Tensor:
    """The mean of the real regions: (B, R, D) and (B, R) to (B, D); zeros where there is none."""
    weights = ops.cast(mask, "float32")
    weights = weights / ops.maximum(ops.sum(weights, axis=1, keepdims=True), 1.0)
    return ops.einsum("brd,br->bd", ops.cast(regions, "float32"), weights)


def _unit(vectors: Tensor) -> Tensor:
    """Rows centred and scaled to unit length, so that products of them are correlations."""
    vectors = ops.cast(vectors, keras.backend.result_type(vectors.dtype, "float32"))
    return l2_normalize(vectors - ops.mean(vectors, axis=-1, keepdims=True))


def _correlations_ready(vectors: Array) -> Array:
    return ops.convert_to_numpy(_unit(np.asarray(vectors, np.float32)))


def _check_text(preprocessor: TextPreprocessor | None, sentences: FisherVectors | None, y_dim: int) -> None:
    if (preprocessor is None) != (sentences is None):
        raise ValueError("preprocessor and sentences go together: pass both for pictures and sentences, or neither.")
    if preprocessor is not None and len(preprocessor.languages) != 1:
        raise ValueError(f"preprocessor must have one language, found {', '.join(preprocessor.languages)}.")
    if sentences is not None and sentences.size != y_dim:
        raise ValueError(f"y_dim must be the Fisher vectors' size, {sentences.size}, got {y_dim}.")
