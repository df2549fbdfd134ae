"""How much the two mid representations of a two-view model share, and over how many directions."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from vse_zoo.data.two_view import TwoViewData
from vse_zoo.metrics import (
    CanonicalCorrelation,
    EffectiveRank,
    NeuronCorrelation,
    PrincipalDirections,
    RepresentationVariance,
)

__all__ = ["CorrelationFigures", "TwoViewEncoder", "correlation_figures", "evaluate_correlation"]

Rows = NDArray[np.floating]


class TwoViewEncoder(Protocol):
    """What evaluation needs of a model (`vse_zoo.models.TwoWayNet` has it)."""

    def encode_x(self, x: Rows) -> Rows:
        """(N, x_dim) to (N, E)."""

    def encode_y(self, y: Rows) -> Rows:
        """(N, y_dim) to (N, E)."""


@dataclass(frozen=True)
class CorrelationFigures:
    """Figures of a split; the last three are means over the two representations.

    Args:
        neuron: sum over neurons of the correlation between the views, the paper's figure (at most E). It rises when
            all neurons follow the few directions that correlate best: read it beside the others.
        canonical: sum of canonical correlations, linear CCA fitted on another split (at most E).
        effective_rank: exp of the entropy of the covariance's eigenvalues.
        directions: principal directions that hold 90% of the variance.
        variance: mean variance of a neuron.
    """

    neuron: float
    canonical: float
    effective_rank: float
    directions: float
    variance: float

    def as_dict(self) -> dict[str, float]:
        """The figures by name."""
        return asdict(self)


def evaluate_correlation(
    model: TwoViewEncoder, data: TwoViewData, split: str, fit_split: str = "train"
) -> CorrelationFigures:
    """Figures of a model on a split; CCA is fitted on ``fit_split``.

    Raises:
        EvaluationError: a split has no more rows than the representation has neurons, or values are not finite.
    """
    views = [data.views(name) for name in (fit_split, split)]
    fitted, measured = [(model.encode_x(x), model.encode_y(y)) for x, y in views]
    return correlation_figures(fitted, measured)


def correlation_figures(fitted: tuple[Rows, Rows], measured: tuple[Rows, Rows]) -> CorrelationFigures:
    """Figures of two representations (N, E) of the ``measured`` rows, with CCA fitted on the ``fitted`` rows."""
    canonical, neuron = CanonicalCorrelation(), NeuronCorrelation()
    canonical.fit_state(*fitted)
    for metric in (canonical, neuron):
        metric.update_state(*measured)
    spreads = []
    for kind in (EffectiveRank, PrincipalDirections, RepresentationVariance):
        of_views = [kind() for _ in measured]
        for metric, rows in zip(of_views, measured, strict=True):
            metric.update_state(rows)
        spreads.append(float(np.mean([metric.result() for metric in of_views])))
    return CorrelationFigures(float(neuron.result()), float(canonical.result()), *spreads)
