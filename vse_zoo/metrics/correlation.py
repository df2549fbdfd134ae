"""Sum of neuron correlations, the figure of 2-Way Nets (Eisenschtat & Wolf, CVPR 2017)."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from vse_zoo.errors import EvaluationError
from vse_zoo.metrics.moments import Moments, correlation, paired, representation

__all__ = ["NeuronCorrelation", "check_unweighted"]

Tensor = Any


def check_unweighted(sample_weight: Tensor | None) -> None:
    """Correlations here count each row once: a weight is an error rather than silently left out."""
    if sample_weight is not None:
        raise ValueError("sample_weight must be None: every row counts once.")


@keras.saving.register_keras_serializable(package="vse_zoo")
class NeuronCorrelation(keras.metrics.Metric):
    """``Σ_k r(h_k, g_k)``: Pearson's correlation between neuron k of h and neuron k of g, summed over the neurons.

    At most d. A constant neuron contributes 0. Many neurons that all say the same score as high as d different ones:
    read it beside `CanonicalCorrelation` and `EffectiveRank`.

    Args:
        name: the metric's name.
        kwargs: those of `keras.metrics.Metric`.
    """

    def __init__(self, name: str = "neuron_correlation", **kwargs: Any) -> None:
        super().__init__(name=name, **kwargs)
        self.moments = Moments(self, paired, "rows")

    def update_state(self, h: Tensor, g: Tensor, sample_weight: Tensor | None = None) -> None:
        """Adds rows: h and g (B, d), any float type; an `EvaluationError` unless the shapes agree."""
        check_unweighted(sample_weight)
        h, g = representation(h, "h"), representation(g, "g")
        if h.shape[1] != g.shape[1]:
            raise EvaluationError(f"{self.name}: h has {h.shape[1]} neurons, g has {g.shape[1]}; expected as many.")
        self.moments.update(ops.concatenate([h, g], axis=1))

    def result(self) -> Tensor:
        """The sum, float64; an `EvaluationError` for fewer than two rows or values that are not finite."""
        if not self.moments.width:
            raise EvaluationError(f"{self.name}: found no rows. Call update_state(h, g) first.")
        products = self.moments.products
        floors = ops.reshape(self.moments.floors, (2, -1))
        return self.moments.honest(ops.sum(correlation(products[2], products[:2], floors)), least=1)
