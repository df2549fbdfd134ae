"""Canonical correlation (Hotelling, 1936) between two representations, fitted on one split, measured on another."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from vse_zoo.errors import EvaluationError
from vse_zoo.metrics.correlation import check_unweighted
from vse_zoo.metrics.moments import Moments, correlation, outer, representation

__all__ = ["CanonicalCorrelation"]

Tensor = Any

# Keeps the unused branch of a `where` from dividing by zero.
_TINY = 1e-300


@keras.saving.register_keras_serializable(package="vse_zoo")
class CanonicalCorrelation(keras.metrics.Metric):
    """Sum of canonical correlations: linear CCA fitted on training rows, applied to the rows that are measured.

    The directions a_k, b_k are those of linear CCA on the rows of `fit_state`; the figure is ``Σ_k r(a_kᵀh, b_kᵀg)``
    over the rows of `update_state`, at most min(d, e), the same after any invertible linear map of h or g. Streaming
    the same rows into both gives the training figure, the sum of the singular values of the whitened cross-covariance.

    There is no ridge. Directions in which the correlation matrix of a view has an eigenvalue below ``tolerance`` times
    its largest are left out (duplicate, dead or linearly dependent neurons), so a collapsed representation scores what
    its true directions share.

    Args:
        tolerance: relative; 1e-10 lies above what float32 rounding leaves in directions that are not there.
        name: the metric's name.
        kwargs: those of `keras.metrics.Metric`.
    """

    def __init__(self, tolerance: float = 1e-10, name: str = "canonical_correlation", **kwargs: Any) -> None:
        super().__init__(name=name, **kwargs)
        self.tolerance = tolerance
        self.fitted = Moments(self, outer, "fitted")
        self.measured = Moments(self, outer, "measured")
        self._split = 0

    def fit_state(self, h: Tensor, g: Tensor) -> None:
        """Adds training rows, h (B, d) and g (B, e), from which the canonical directions are computed."""
        self.fitted.update(self._joined(h, g))

    def update_state(self, h: Tensor, g: Tensor, sample_weight: Tensor | None = None) -> None:
        """Adds rows on which the correlations are measured, h (B, d) and g (B, e), any float type."""
        check_unweighted(sample_weight)
        self.measured.update(self._joined(h, g))

    def reset_state(self) -> None:
        """Forgets the measured rows; what `fit_state` saw stays, since Keras resets metrics before every evaluation."""
        self.measured.reset()

    def reset_fit(self) -> None:
        """Forgets the training rows, to fit the directions of another model or epoch."""
        self.fitted.reset()

    def result(self) -> Tensor:
        """The sum, float64.

        Raises:
            EvaluationError: `fit_state` was never called, nothing was measured, either saw no more rows than the wider
                view has neurons, or values are not finite. In a graph, NaN instead of the last two.
        """
        for moments, call in ((self.fitted, "fit_state"), (self.measured, "update_state")):
            if not moments.width:
                raise EvaluationError(f"{self.name}: {call} was never called. Call {call}(h, g) with rows first.")
        least = max(self._split, self.measured.width - self._split)
        total = ops.sum(self._correlations())
        return self.fitted.honest(self.measured.honest(total, least, "measured rows"), least, "training rows")

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        return {**super().get_config(), "tolerance": self.tolerance}

    def _joined(self, h: Tensor, g: Tensor) -> Tensor:
        h, g = representation(h, "h"), representation(g, "g")
        if self._split not in (0, h.shape[1]):
            raise EvaluationError(f"{self.name}: found h of {h.shape[1]} neurons, before it had {self._split}.")
        self._split = h.shape[1]
        return ops.concatenate([h, g], axis=1)

    def _blocks(self, products: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The products of h with itself, g with itself, and h with g."""
        d = self._split
        return products[:d, :d], products[d:, d:], products[:d, d:]

    def _correlations(self) -> Tensor:
        a, b = self._directions()
        h, g, both = self._blocks(self.measured.products)
        variances = ops.stack([ops.sum(a * ops.matmul(h, a), axis=0), ops.sum(b * ops.matmul(g, b), axis=0)])
        rounding = ops.sqrt(self.measured.floors)[None]
        floors = ops.concatenate(
            [ops.matmul(rounding[:, : self._split], ops.abs(a)), ops.matmul(rounding[:, self._split :], ops.abs(b))]
        )
        return correlation(ops.sum(a * ops.matmul(both, b), axis=0), variances, ops.square(floors))

    def _directions(self) -> tuple[Tensor, Tensor]:
        """(d, m) and (e, m), the canonical directions of the training rows; zeros beyond the shared rank."""
        h, g, both = self._blocks(self.fitted.products)
        floors = self.fitted.floors
        white_h = self._whitening(h, floors[: self._split])
        white_g = self._whitening(g, floors[self._split :])
        u, shared, v = ops.svd(ops.matmul(ops.transpose(white_h), ops.matmul(both, white_g)), full_matrices=False)
        kept = ops.cast(shared > self.tolerance, "float64")
        return ops.matmul(white_h, u) * kept, ops.matmul(white_g, ops.transpose(v)) * kept

    def _whitening(self, products: Tensor, floors: Tensor) -> Tensor:
        """(d, d) W with WᵀPW = I on the kept directions and 0 on the others.

        Each neuron is first brought to unit variance, so that the numerical rank does not depend on its scale.
        """
        squares = ops.diagonal(products)
        scales = ops.where(squares > floors, 1.0 / ops.sqrt(ops.maximum(squares, _TINY)), 0.0)
        values, vectors = ops.eigh(scales[:, None] * products * scales)
        kept = values > self.tolerance * ops.max(values)
        roots = ops.where(kept, 1.0 / ops.sqrt(ops.where(kept, values, 1.0)), 0.0)
        return scales[:, None] * vectors * roots
