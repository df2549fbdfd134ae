"""The way from pictures to what a model encodes them to: the same for every family unless it overrides it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from vse_zoo.errors import ConfigError
from vse_zoo.features import Backbone, PictureEncoder, backbones
from vse_zoo.images import Picture, is_picture
from vse_zoo.sets import joined

__all__ = ["EncodesPictures"]

Array = np.ndarray


class EncodesPictures:
    """Part of every `VSEModel`: pictures to regions, by the backbone that the model was trained with, to encodings.

    `vse_zoo.load` reads from a preset which backbone that was. Nothing of it is loaded before the first picture comes.
    """

    region_dim: int
    region_backbone: str | None
    """Name of the backbone (`vse_zoo.features.backbones.get`) whose regions the model was trained on, if recorded."""
    region_grid: Sequence[int] | None
    """(rows, columns) of these regions."""

    def encode_image(self, regions: Array, region_mask: Array | None = None, batch_size: int = 256) -> Any:
        """Encodes images by their regions; see `VSEModel.encode_image`."""
        raise NotImplementedError

    def encode_pictures(
        self, pictures: Picture | Iterable[Picture], backbone: Backbone | None = None, batch_size: int = 32
    ) -> Any:
        """Encodes pictures: what `encode_image` gives for their `picture_regions`.

        Searching, explaining, dataset folders and served models encode pictures in the same way.

        Args:
            pictures: N pictures, or one. A picture is a path, an opened file, a Pillow image, or an array of pixels
                (height, width, 3) uint8.
            backbone: what computes the regions; by default the one that the model was trained with.
            batch_size: pictures a batch. Of the pictures before the last batches only their encodings are in memory.

        Returns:
            (N, E) float32 unit vectors; for one picture (E,). Of a pairwise model `ItemSets` of N pictures, or of one.

        Raises:
            ConfigError: the backbone's regions have another length than the model's.
            ImageError: pictures can't be read; all of them are named.
            PresetError: it isn't recorded which backbone the model was trained with, or it can't be loaded.
            ValueError: there is no picture.
        """
        if is_picture(pictures):
            return self.encode_image(self.picture_regions(pictures, backbone))
        batches = self.picture_encoder(backbone).batches(pictures, batch_size)  # type: ignore[arg-type]
        return joined([self.encode_image(regions) for regions in batches])

    def picture_regions(
        self, pictures: Picture | Iterable[Picture], backbone: Backbone | None = None, batch_size: int = 32
    ) -> Array:
        """The regions that the model sees in pictures, for `encode_image`, ``explain`` and your own eyes.

        Args:
            pictures: as in `encode_pictures`.
            backbone: as in `encode_pictures`.
            batch_size: pictures a batch.

        Returns:
            (N, R, D) float32 features; for one picture (R, D). Where they lie in the picture is in
            ``picture_encoder().boxes``.

        Raises:
            ConfigError, ImageError, PresetError, ValueError: as `encode_pictures`.
        """
        return self.picture_encoder(backbone).encode(pictures, batch_size)

    def picture_encoder(self, backbone: Backbone | None = None) -> PictureEncoder:
        """What computes `picture_regions`. It is kept until another one is asked for.

        Args:
            backbone: as in `encode_pictures`.

        Raises:
            ConfigError, PresetError: as `encode_pictures`.
        """
        wanted = (self.region_backbone, self.region_grid) if backbone is None else backbone
        kept, encoder = self.__dict__.get("_picture_encoder", (None, None))
        if encoder is None or kept != wanted:
            owner = type(self).__name__
            found = backbone or backbones.recorded(owner, self.region_backbone, self.region_grid)
            if found.dim != self.region_dim:
                problem = f"gives regions of {found.dim} numbers, the model was trained on {self.region_dim}."
                raise ConfigError(f"{found.name}: {problem}")
            encoder = PictureEncoder(found)
            # Past Keras' attribute tracking: the backbone's weights are not the model's.
            self.__dict__["_picture_encoder"] = wanted, encoder
        return encoder
