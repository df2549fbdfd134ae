"""What every model of the zoo offers: encode pictures, encode sentences, compare them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import keras
import numpy as np
import tensorflow as tf

from vse_zoo import presets
from vse_zoo.errors import DataError, PresetError, located
from vse_zoo.features import Backbone
from vse_zoo.models.fitted import FittedModel
from vse_zoo.models.pictures import EncodesPictures
from vse_zoo.ops.precision import dtype_policy
from vse_zoo.preprocessing import TextPreprocessor

if TYPE_CHECKING:
    from vse_zoo.serving import Export

__all__ = ["VSEModel"]

Tensor = Any
Array = np.ndarray


class VSEModel(EncodesPictures, FittedModel):
    """A visual-semantic embedding: subclasses implement `embed_image`, `embed_text`, `build` and `compute_loss`.

    Training calls the model on a batch (vse_zoo.data.pipeline) through `model.fit`; users call `encode_pictures`, or
    `encode_image` for pictures whose regions are at hand, `encode_text` and `similarity`.

    Args:
        preprocessor: turns sentences into word ids; saved with the model. None: the model takes no sentences.
        region_dim: length D of a region's feature vector.
        region_backbone: name of the backbone that computes the regions (`vse_zoo.features.backbones.get`), for
            `encode_pictures`; saved with the model.
        region_grid: (rows, columns) of the regions, likewise.
    """

    similarity_kind = "embedding"
    """"embedding": scores are inner products of `encode_*` outputs; "pairwise": they need both items."""

    def __init__(
        self,
        preprocessor: TextPreprocessor | None,
        region_dim: int,
        *,
        region_backbone: str | None = None,
        region_grid: Sequence[int] | None = None,
        **kwargs: Any,
    ) -> None:
        # The layers round what may be rounded: regions must not be, before they are standardised.
        super().__init__(autocast=False, **kwargs)
        self.preprocessor: Any = preprocessor
        self.region_dim = region_dim
        self.region_backbone = region_backbone
        self.region_grid = tuple(region_grid) if region_grid else None

    @classmethod
    def from_preset(cls, preset: str | Path, load_weights: bool = True, **options: Any) -> Self:
        """The model of a preset, like `vse_zoo.load`, if it is one of this class, which is trusted.

        Args:
            preset: a built-in name, a folder, or ``hf://user/repo``.
            load_weights: off, the weights are random.
            options: ``trusted_classes``, ``dtype`` and the model's losses, as for `vse_zoo.load`.

        Raises:
            PresetError: as `vse_zoo.load` does, or the preset is of another class.
        """
        trusted = (cls, *options.pop("trusted_classes", ()))
        model = presets.load(preset, load_weights, trusted_classes=trusted, **options)
        if not isinstance(model, cls):
            problem = f"found a {type(model).__name__}, expected a {cls.__name__}."
            raise PresetError(located(preset, problem, do=f"Use {type(model).__name__}.from_preset, or vse_zoo.load."))
        return model

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        """The model that `get_config` described, without its weights.

        Args:
            config: the constructor's arguments. Parts such as losses are objects, or as `keras.saving` describes them.
        """
        parts = {
            name: keras.saving.deserialize_keras_object(value) if _is_described(value) else value
            for name, value in config.items()
        }
        # The layers that the constructor makes compute in the model's precision, whatever Keras' is at the time.
        with dtype_policy(parts.get("dtype")):
            return cls(**parts)

    def save_to_preset(self, folder: str | Path, metadata: dict[str, Any] | None = None) -> None:
        """Writes the built model into a preset folder; ``metadata``: figures and origin, plain JSON values."""
        presets.save(self, folder, metadata)

    def export_saved_model(self, folder: str | Path, version: int = 1, *, backbone: Backbone | None = None) -> Export:
        """Writes ``folder/<version>/`` for TensorFlow Serving; all as of `vse_zoo.serving.export_saved_model`."""
        from vse_zoo.serving import export_saved_model  # knows every model, so that models can't know it

        return export_saved_model(self, folder, version, backbone=backbone)

    def get_config(self) -> dict[str, Any]:
        """Where the regions come from, if that is known, beside Keras' own arguments."""
        config = super().get_config()
        if self.region_backbone:
            config |= {"region_backbone": self.region_backbone, "region_grid": list(self.region_grid or ())}
        return config

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages that `encode_text` takes."""
        return self.preprocessor.languages if self.preprocessor is not None else ()

    def embed_image(self, regions: Tensor, region_mask: Tensor) -> Tensor:
        """(B, R, D) regions and (B, R) mask to (B, E) unit vectors, in the graph."""
        raise NotImplementedError(f"{type(self).__name__}.embed_image")

    def embed_text(self, ids: Tensor, language: str) -> Tensor:
        """(B, T) word ids to (B, E) unit vectors, in the graph."""
        raise NotImplementedError(f"{type(self).__name__}.embed_text")

    def encode_image(self, regions: Array, region_mask: Array | None = None, batch_size: int = 256) -> Array:
        """Encodes images, in batches.

        Args:
            regions: (N, R, D) float, any precision; or (R, D), one image.
            region_mask: (N, R) bool, True on real regions; all are real by default.
            batch_size: images a batch.

        Returns:
            (N, E) float32 unit vectors; for one image (E,).

        Raises:
            ValueError: D is not the model's ``region_dim``, there is no image, or the mask fits other regions.
        """
        single = np.ndim(regions) == 2
        regions, mask = self.checked_regions(regions, region_mask)
        found = np.concatenate(list(self.image_chunks(regions, mask, batch_size)))
        return found[0] if single else found

    def checked_regions(self, regions: Array, region_mask: Array | None) -> tuple[Array, Array]:
        """(N, R, D) regions, one image being N = 1, and their (N, R) mask; a `ValueError` where they don't fit."""
        regions = np.asarray(regions)
        if regions.ndim == 2:
            regions, region_mask = regions[None], None if region_mask is None else np.asarray(region_mask)[None]
        if regions.ndim != 3 or regions.shape[-1] != self.region_dim or not len(regions):
            expected = f"(images, regions, {self.region_dim}) and at least one image"
            raise ValueError(f"regions: found shape {regions.shape}, expected {expected}.")
        mask = np.ones(regions.shape[:2], bool) if region_mask is None else np.asarray(region_mask, bool)
        if mask.shape != regions.shape[:2]:
            raise ValueError(f"region_mask: found shape {mask.shape}, expected {regions.shape[:2]}.")
        return regions, mask

    def image_chunks(self, regions: Array, mask: Array, size: int) -> Iterator[Array]:
        """`embed_image` of ``size`` images at a time."""
        return (
            np.asarray(self._image_function(regions[i : i + size].astype("float32"), mask[i : i + size]), np.float32)
            for i in range(0, len(regions), size)
        )

    def encode_text(self, texts: Sequence[str], language: str = "en", batch_size: int = 512) -> Array:
        """Encodes sentences, in batches of similar length; the results keep the order of ``texts``.

        Args:
            texts: N sentences, or one string.
            language: one of `languages`.
            batch_size: sentences a batch.

        Returns:
            (N, E) float32 unit vectors; for one string (E,).

        Raises:
            DataError: the model does not know the language, or takes no sentences.
        """
        if isinstance(texts, str):
            return self.encode_text([texts], language)[0]
        chunks, _, order = self.text_chunks(texts, language, batch_size)
        return np.concatenate(list(chunks))[np.argsort(order)]

    def text_chunks(self, texts: Sequence[str], language: str, size: int) -> tuple[Iterator[Array], Array, Array]:
        """`embed_text` of ``size`` sentences of similar length at a time; their lengths; and their order by length."""
        if self.preprocessor is None:
            raise DataError(f"{type(self).__name__}: this model was made for two matrices, and takes no sentences.")
        if not len(texts):
            raise ValueError("texts: found none, expected at least one sentence.")
        ids = self._tokenizers[self.preprocessor.check_language(language)](list(texts))
        lengths = ids.row_lengths().numpy()
        order = np.argsort(lengths, kind="stable")
        function = self._text_functions[language]
        batches = (tf.gather(ids, order[i : i + size]).to_tensor() for i in range(0, len(order), size))
        chunks = (np.asarray(function(batch), np.float32) for batch in batches)
        return chunks, lengths, order

    def similarity(self, images: Array, texts: Array) -> Array:
        """Scores of all pairs: (N, E) images and (M, E) texts to (N, M); cosine, since both are unit vectors."""
        return np.asarray(images) @ np.asarray(texts).T

    # cached_property writes past Keras' attribute tracking, which would take the functions for layers' state.
    @cached_property
    def _image_function(self) -> Any:
        regions = tf.TensorSpec([None, None, self.region_dim], tf.float32)
        return tf.function(self.embed_image, input_signature=[regions, tf.TensorSpec([None, None], tf.bool)])

    @cached_property
    def _tokenizers(self) -> dict[str, Any]:
        texts = tf.TensorSpec([None], tf.string)
        return {
            language: tf.function(partial(self.preprocessor.ragged, language=language), input_signature=[texts])
            for language in self.languages
        }

    @cached_property
    def _text_functions(self) -> dict[str, Any]:
        ids = tf.TensorSpec([None, None], tf.int32)
        return {
            language: tf.function(partial(self.embed_text, language=language), input_signature=[ids])
            for language in self.languages
        }


def _is_described(value: Any) -> bool:
    return isinstance(value, dict) and {"class_name", "config"} <= value.keys()
