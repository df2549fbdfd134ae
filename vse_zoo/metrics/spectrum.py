"""How many directions a representation uses, and how far it spreads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
from keras import ops

from vse_zoo.errors import EvaluationError
from vse_zoo.metrics.correlation import check_unweighted
from vse_zoo.metrics.moments import Moments, outer, representation, squares

__all__ = ["EffectiveRank", "PrincipalDirections", "RepresentationVariance"]

Tensor = Any

# Shares that add up to the wanted one but for rounding hold it.
_SLACK = 1e-12


def _shares(moments: Moments) -> Tensor:
    """(d,) each principal direction's share of the variance, ascending; zeros where all neurons are constant."""
    values = ops.maximum(ops.eigh(moments.products)[0], 0.0)
    total = ops.sum(values)
    varies = total > ops.sum(moments.floors)
    return ops.where(varies, values / ops.where(varies, total, 1.0), 0.0)


class _OneRepresentation(keras.metrics.Metric):
    """A metric of the moments of one representation."""

    def __init__(self, products: Callable[[Tensor], Tensor], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.moments = Moments(self, products, "rows")

    def update_state(self, h: Tensor, sample_weight: Tensor | None = None) -> None:
        """Adds rows of one representation, h (B, d), any float type."""
        check_unweighted(sample_weight)
        self.moments.update(representation(h, "h"))

    def _seen(self) -> Moments:
        if not self.moments.width:
            raise EvaluationError(f"{self.name}: found no rows. Call update_state(h) first.")
        return self.moments


@keras.saving.register_keras_serializable(package="vse_zoo")
class EffectiveRank(_OneRepresentation):
    """``exp(−Σ_k p_k log p_k)``, p the eigenvalues of the covariance over their sum (Roy & Vetterli, EUSIPCO 2007).

    d for a representation that spreads alike in all directions, 1 where it varies along a line, 0 where it is constant.

    Args:
        name: the metric's name.
        kwargs: those of `keras.metrics.Metric`.
    """

    def __init__(self, name: str = "effective_rank", **kwargs: Any) -> None:
        super().__init__(outer, name=name, **kwargs)

    def result(self) -> Tensor:
        """The rank, float64; an `EvaluationError` unless there are more rows than neurons, all finite."""
        moments = self._seen()
        shares = _shares(moments)
        entropy = -ops.sum(ops.where(shares > 0, shares * ops.log(ops.where(shares > 0, shares, 1.0)), 0.0))
        rank = ops.where(ops.sum(shares) > 0, ops.exp(entropy), 0.0)
        return moments.honest(rank, least=moments.width)


@keras.saving.register_keras_serializable(package="vse_zoo")
class PrincipalDirections(_OneRepresentation):
    """The number of principal directions that together hold a share of the variance; 0 where nothing varies.

    Args:
        share: of the total variance, in (0, 1].
        name: the metric's name.
        kwargs: those of `keras.metrics.Metric`.
    """

    def __init__(self, share: float = 0.9, name: str = "principal_directions", **kwargs: Any) -> None:
        super().__init__(outer, name=name, **kwargs)
        if not 0 < share <= 1:
            raise ValueError(f"share must lie in (0, 1], got {share}.")
        self.share = share

    def result(self) -> Tensor:
        """The number, float64; an `EvaluationError` unless there are more rows than neurons, all finite."""
        moments = self._seen()
        shares = _shares(moments)
        held_before = ops.cumsum(ops.flip(shares)) - ops.flip(shares)
        needed = ops.cast(held_before < self.share - _SLACK, "float64")
        count = ops.where(ops.sum(shares) > 0, ops.sum(needed), 0.0)
        return moments.honest(count, least=moments.width)

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        return {**super().get_config(), "share": self.share}


@keras.saving.register_keras_serializable(package="vse_zoo")
class RepresentationVariance(_OneRepresentation):
    """Mean over the neurons of their variance (divided by the number of rows), the "variance" of 2-Way Nets' ablation.

    Args:
        name: the metric's name.
        kwargs: those of `keras.metrics.Metric`.
    """

    def __init__(self, name: str = "representation_variance", **kwargs: Any) -> None:
        super().__init__(squares, name=name, **kwargs)

    def result(self) -> Tensor:
        """The mean, float64, in squared units of h; an `EvaluationError` without two rows, or if not finite."""
        moments = self._seen()
        variance = ops.mean(moments.products) / ops.maximum(moments.count, 1.0)
        return moments.honest(variance, least=1)
