"""Figures of phrase localisation from ranked regions, with nothing in the model's favour."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
from numpy.typing import NDArray

from vse_zoo.errors import EvaluationError

__all__ = ["GroundingFigures", "PhraseOutcome", "phrase_outcome", "summary"]

_DEPTHS = (1, 5, 10)


@dataclass(frozen=True)
class GroundingFigures:
    """Shares in percent of ``phrases``, those that have boxes.

    Args:
        r1, r5, r10: a region among the best K has IoU ≥ 0.5 with the phrase's boxes; R@1 is the accuracy.
        upper_bound: any region has, whatever its rank: what a perfect model would reach with these regions.
        chance: expected R@1 of a region drawn at random.
        pointing: the pointing game: the centre of the best region lies inside one of the phrase's boxes.
        pointing_upper_bound, pointing_chance: the same for the centre of any region, and of one drawn at random.
        map_box: of a grid, whose cells seldom have an IoU of 0.5 with anything: the box around the brightest part of
            the phrase's heat map (`map_boxes`) has IoU ≥ 0.5 with the phrase's boxes; None where regions were detected.
        phrases: with boxes.
        without_words: of these, phrases of which the model reads no word (punctuation, or beyond its longest sentence):
            misses in all figures but bounds and chance.
        without_boxes: further phrases, which name nothing in the picture; left out.
    """

    r1: float
    r5: float
    r10: float
    upper_bound: float
    chance: float
    pointing: float
    pointing_upper_bound: float
    pointing_chance: float
    map_box: float | None
    phrases: int
    without_words: int
    without_boxes: int

    def as_dict(self) -> dict[str, float | None]:
        """The figures by name, plain numbers for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class PhraseOutcome:
    """One phrase: 1-based ranks of the best right region and of the best region to point at (inf: there is none), and
    the shares of regions that are right; whether the box of its heat map is right, None if it has none.
    """

    rank: float
    pointing_rank: float
    right: float
    pointing_right: float
    map_right: bool | None

    @property
    def missed(self) -> PhraseOutcome:
        """The same phrase for a model that answers nothing."""
        none = None if self.map_right is None else False
        return replace(self, rank=np.inf, pointing_rank=np.inf, map_right=none)


def phrase_outcome(
    scores: NDArray[np.floating],
    right: NDArray[np.bool_],
    pointing: NDArray[np.bool_],
    map_right: bool | None = None,
) -> PhraseOutcome:
    """How a model's scores (R,) of the regions fare; a wrong region that ties with the best right one ranks before it.

    Raises:
        EvaluationError: a score is NaN or infinite.
    """
    if not np.isfinite(scores).all():
        region = int(np.argmin(np.isfinite(scores)))
        raise EvaluationError(f"region {region}: found the score {scores[region]}, which can't be ranked.")
    shares = float(np.mean(right)), float(np.mean(pointing))
    return PhraseOutcome(_rank(scores, right), _rank(scores, pointing), *shares, map_right)


def _rank(scores: NDArray[np.floating], right: NDArray[np.bool_]) -> float:
    if not right.any():
        return float("inf")
    return 1.0 + float(np.count_nonzero(scores[~right] >= scores[right].max()))


def summary(outcomes: Sequence[PhraseOutcome], without_words: int, without_boxes: int) -> GroundingFigures:
    """The figures of at least one phrase with boxes."""
    ranks = np.array([each.rank for each in outcomes])
    maps = [each.map_right for each in outcomes if each.map_right is not None]
    r1, r5, r10 = (_percent(ranks <= depth) for depth in _DEPTHS)
    return GroundingFigures(
        r1=r1,
        r5=r5,
        r10=r10,
        upper_bound=_percent([each.right > 0 for each in outcomes]),
        chance=_percent([each.right for each in outcomes]),
        pointing=_percent([each.pointing_rank <= 1 for each in outcomes]),
        pointing_upper_bound=_percent([each.pointing_right > 0 for each in outcomes]),
        pointing_chance=_percent([each.pointing_right for each in outcomes]),
        map_box=_percent(maps) if maps else None,
        phrases=len(outcomes),
        without_words=without_words,
        without_boxes=without_boxes,
    )


def _percent(shares: Sequence[float] | Sequence[bool] | NDArray[np.bool_]) -> float:
    return 100 * float(np.mean(shares))
