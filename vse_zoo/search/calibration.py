"""How often a result at a score is right: isotonic regression (Barlow and others, 1972) on a preset's dev split."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vse_zoo.errors import PresetError, located
from vse_zoo.files import read_json, write_json
from vse_zoo.search.settings import CALIBRATION

__all__ = ["LENGTHS", "WEAK", "Calibration", "Curve", "fit_curve", "length_of"]

WEAK = 0.1
"""Results less often right than this are marked."""
LENGTHS = ("short", "long")
"""Of queries. At the same score short ones, which fit more photos, are right about twice as often."""
_SHORT = 5


def length_of(words: int) -> str:
    """ "short" for up to five words, or "long"."""
    return LENGTHS[int(words > _SHORT)]


@dataclass(frozen=True, eq=False)
class Curve:
    """A rising piecewise linear function.

    Args:
        scores: (n,) ascending, no two equal.
        shares: (n,) not falling, in 0…1.
    """

    scores: NDArray[np.float64]
    shares: NDArray[np.float64]

    def __call__(self, scores: NDArray[np.floating]) -> NDArray[np.float64]:
        """How often results at such scores were right; beyond the ends, the value at the end."""
        return np.interp(scores, self.scores, self.shares)


def fit_curve(scores: NDArray[np.floating], right: NDArray[np.bool_]) -> Curve:
    """The rising function that fits best: least squares, by pooling adjacent violators.

    Args:
        scores: (n,) of results, at least one.
        right: (n,) whether each was right.
    """
    levels, places, counts = np.unique(np.asarray(scores, np.float64), return_inverse=True, return_counts=True)
    hits = np.bincount(places, weights=np.asarray(right, np.float64))
    blocks: list[list[float]] = []  # hits, results, first level, last level
    for position, (hit, count) in enumerate(zip(hits, counts, strict=True)):
        blocks.append([hit, count, position, position])
        while len(blocks) > 1 and blocks[-2][0] * blocks[-1][1] >= blocks[-1][0] * blocks[-2][1]:
            hit, count, _, last = blocks.pop()
            blocks[-1] = [blocks[-1][0] + hit, blocks[-1][1] + count, blocks[-1][2], last]
    ends = np.unique([int(end) for block in blocks for end in block[2:]])
    starts = np.array([block[2] for block in blocks])
    shares = np.array([block[0] / block[1] for block in blocks])
    return Curve(levels[ends], shares[np.searchsorted(starts, ends, side="right") - 1])


@dataclass(frozen=True, eq=False)
class Calibration:
    """What scores of a preset mean.

    It holds for other collections, of any size, as far as about the same share of their photos is right for a query as
    where it was measured. For a query that no photo fits it is too high.

    Args:
        split: where it was measured.
        photos: how many were searched.
        depth: results of each query that count, from the best on.
        curves: score → share of right results, by language and by `length_of` the query. Scores of a pairwise model
            that adds its words' are first divided by their number.
        figures: of the measurement.
    """

    split: str
    photos: int
    depth: int
    curves: dict[str, dict[str, Curve]]
    figures: dict[str, Any]

    def write(self, preset: Path) -> None:
        """Writes it into a preset folder; `vse_zoo.presets.record_hashes` is then due."""
        curves = {
            language: {length: _as_json(curve) for length, curve in by_length.items()}
            for language, by_length in self.curves.items()
        }
        values = {"split": self.split, "photos": self.photos, "depth": self.depth, "figures": self.figures}
        write_json(preset / CALIBRATION, {**values, "curves": curves})

    @classmethod
    def read(cls, preset: Path) -> Calibration | None:
        """Reads a preset folder's, or None where it has none; a `PresetError` where it is damaged."""
        path = preset / CALIBRATION
        if not path.is_file():
            return None
        values = read_json(path)
        try:
            curves = {
                language: {length: _from_json(by_length[length]) for length in LENGTHS}
                for language, by_length in values["curves"].items()
            }
            return cls(values["split"], values["photos"], values["depth"], curves, values["figures"])
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            do = "Make it again: python recipes/calibrate.py."
            raise PresetError(located(path, f"damaged ({type(error).__name__}: {error}).", do=do)) from None


def _as_json(curve: Curve) -> dict[str, list[float]]:
    return {"scores": curve.scores.round(6).tolist(), "shares": curve.shares.round(6).tolist()}


def _from_json(values: dict[str, list[float]]) -> Curve:
    curve = Curve(np.array(values["scores"], np.float64), np.array(values["shares"], np.float64))
    if not len(curve.scores) or curve.scores.shape != curve.shares.shape or curve.scores.ndim != 1:
        raise ValueError(f"found {curve.scores.shape} scores and {curve.shares.shape} shares")
    return curve
