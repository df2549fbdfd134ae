"""From pictures to the regions that models are trained on: the one definition that all parts of the library use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import nullcontext

import numpy as np
import tensorflow as tf
from numpy.typing import NDArray

from vse_zoo.errors import ImageError
from vse_zoo.features.backbone import Backbone
from vse_zoo.features.decoding import decoded, listed, undecodable
from vse_zoo.images import Picture, Pixels, is_picture, read_picture, square_pixels
from vse_zoo.progress import progress

__all__ = ["PictureEncoder"]

_LARGEST = float(np.finfo(np.float16).max)


class PictureEncoder:
    """Pictures to region features.

    A picture is decoded and turned upright (`vse_zoo.images.read_picture`), squeezed to the square that the backbone
    takes, and passed through the backbone. The features are rounded to float16, as dataset folders store them: models
    were trained on such numbers, and the same picture gives the same numbers wherever it is encoded.

    Args:
        backbone: computes the regions from pixels.
    """

    def __init__(self, backbone: Backbone) -> None:
        self.backbone = backbone
        size = backbone.image_size
        self._compiled = tf.function(self.__call__, input_signature=[tf.TensorSpec((None, size, size, 3), tf.uint8)])

    @property
    def image_size(self) -> int:
        """Side S of the square that pictures are squeezed to, in pixels."""
        return self.backbone.image_size

    @property
    def grid(self) -> tuple[int, int]:
        """(rows, columns) of the regions."""
        return self.backbone.grid

    @property
    def boxes(self) -> NDArray[np.float32]:
        """(R, 4) boxes (x0, y0, x1, y1) of the regions, relative to the upright picture."""
        return self.backbone.boxes

    def pixels(self, picture: Picture, name: str = "picture") -> Pixels:
        """A picture to (S, S, 3) uint8; ``name`` is what an `ImageError` calls a picture that has no file name."""
        return square_pixels(read_picture(picture, self.image_size, name), self.image_size)

    def regions(self, pixels: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Pixels (B, S, S, 3) to regions (B, R, D), whose numbers float16 holds exactly."""
        return self._compiled(pixels).numpy()

    def __call__(self, pixels: tf.Tensor) -> tf.Tensor:
        """`regions` as tensors, to be part of another graph."""
        count = tf.shape(pixels)[0]
        # A batch of one is computed by other kernels, whose sums have another last bit. As two, it is as in any batch.
        copies = 1 + tf.cast(tf.equal(count, 1), tf.int32)
        regions = self.backbone(tf.tile(pixels, [copies, 1, 1, 1]))[:count]
        return tf.cast(tf.cast(tf.clip_by_value(regions, -_LARGEST, _LARGEST), tf.float16), tf.float32)

    def encode(self, pictures: Picture | Iterable[Picture], batch_size: int = 32) -> NDArray[np.float32]:
        """The regions of N pictures (N, R, D), or of one picture (R, D); see `batches`."""
        if is_picture(pictures):
            return next(self.batches([pictures]))[0]
        return np.concatenate(list(self.batches(pictures, batch_size)))  # type: ignore[arg-type]

    def batches(self, pictures: Iterable[Picture], batch_size: int = 32) -> Iterator[NDArray[np.float32]]:
        """The regions of pictures, ``batch_size`` at a time; two threads decode the next batch meanwhile.

        Of more than one batch, a bar on the terminal shows the progress.

        Args:
            pictures: in the order of the regions.
            batch_size: pictures a batch.

        Yields:
            (B, R, D) float32; B is ``batch_size``, or less in the last batch.

        Raises:
            ImageError: pictures can't be read. All of them are named, even those of later batches.
            ValueError: there is no picture.
        """
        pictures = list(pictures)
        if not pictures:
            raise ValueError("pictures: found none, expected at least one picture.")

        def read(index: int) -> Pixels:
            return self.pixels(pictures[index], f"pictures[{index}]")

        bar = progress("pictures", len(pictures)) if len(pictures) > batch_size else nullcontext()
        with bar as shown:
            for indices, found in decoded(range(len(pictures)), read, batch_size):
                bad = [each for each in found if isinstance(each, str)]
                if bad:
                    rest = undecodable(range(indices.stop, len(pictures)), read)
                    raise _unreadable([*bad, *rest.values()], len(pictures))
                yield self.regions(np.stack(found))
                if shown is not None:
                    shown.advance(len(indices))


def _unreadable(reasons: list[str], count: int) -> ImageError:
    if len(reasons) == 1:
        return ImageError(reasons[0])
    return ImageError(f"{len(reasons)} of {count} pictures can't be read. Leave them out.\n{listed(reasons)}")
