"""Means and centred products of streamed rows, merged in float64 (Chan, Golub & LeVeque, 1983)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import tensorflow as tf
from keras import ops

from vse_zoo.errors import EvaluationError

__all__ = ["Moments", "correlation", "outer", "paired", "representation", "squares"]

Tensor = Any

# A standard deviation below this share of the mean is what summing in float64 leaves of a constant.
_ROUNDING = 1e-12


def outer(rows: Tensor) -> Tensor:
    """(B, D) → (D, D), ``Σ_b z_b z_bᵀ``."""
    return ops.matmul(ops.transpose(rows), rows)


def squares(rows: Tensor) -> Tensor:
    """(B, D) → (D,), ``Σ_b z_b²`` neuron by neuron."""
    return ops.sum(ops.square(rows), axis=0)


def paired(rows: Tensor) -> Tensor:
    """(B, 2d), two representations side by side, → (3, d): ``Σ h²``, ``Σ g²`` and ``Σ hg`` neuron by neuron."""
    h, g = ops.split(rows, 2, axis=1)
    return ops.stack([squares(h), squares(g), ops.sum(h * g, axis=0)])


def representation(values: Tensor, name: str) -> Tensor:
    """``values`` in float64; an `EvaluationError` if they are not (B, d)."""
    values = ops.cast(values, "float64")
    if len(values.shape) != 2:
        raise EvaluationError(f"representation {name} has shape {tuple(values.shape)}: expected (rows, neurons).")
    return values


def correlation(products: Tensor, variances: Tensor, floors: Tensor) -> Tensor:
    """``products / √(variance · other variance)``, 0 where one of the two variances is no more than its floor.

    Args:
        products: (d,) centred products of two representations.
        variances: (2, d) centred squares of either.
        floors: (2, d) what rounding leaves of the squares of a constant.

    Returns:
        (d,) Pearson's r of each neuron.
    """
    varies = ops.all(variances > floors, axis=0)
    scales = ops.sqrt(ops.where(varies, variances[0] * variances[1], 1.0))
    return ops.where(varies, products / scales, ops.zeros_like(scales))


class Moments:
    """Count, mean and centred products of all rows seen so far, the same whatever the batches.

    Two sets of rows a and b are merged by ``mean = mean_a + δ n_b/n`` and ``P = P_a + P_b + P(δ) n_a n_b/n`` with
    ``δ = mean_b − mean_a``. Nothing is squared before its mean is taken away, so a large offset costs no digits.
    Variables are made at the first update, when the width is known. They can't be merged over replicas by addition:
    evaluate on one device.

    Args:
        metric: the metric that owns the variables.
        products: what is summed over centred rows: `outer`, `squares` or `paired`.
        name: prefix of the variables' names.
    """

    def __init__(self, metric: keras.metrics.Metric, products: Callable[[Tensor], Tensor], name: str) -> None:
        self._metric = metric
        self._of = products
        self._name = name
        self._variables: dict[str, Any] = {}

    def update(self, rows: Tensor) -> None:
        """Adds rows, (B, D) float64; an `EvaluationError` if D is not that of the rows before."""
        width = rows.shape[1]
        if not self._variables:
            self._create(width)
        if width != self.width:
            raise EvaluationError(f"{self._metric.name}: found rows of {width} values, those before had {self.width}.")
        added = ops.cast(ops.shape(rows)[0], "float64")
        mean = ops.sum(rows, axis=0) / ops.maximum(added, 1.0)
        before, total = self.count, self.count + added
        delta = mean - self.mean
        share = added / ops.maximum(total, 1.0)
        products = self._of(rows - mean) + self._of(delta[None]) * before * share
        self._variables["products"].assign(self.products + products)
        self._variables["mean"].assign(self.mean + delta * share)
        self._variables["count"].assign(total)

    def reset(self) -> None:
        """Forgets all rows."""
        for variable in self._variables.values():
            variable.assign(ops.zeros_like(variable))

    def _create(self, width: int) -> None:
        shapes = {"count": (), "mean": (width,), "products": self._of(ops.zeros((1, width))).shape}
        for name, shape in shapes.items():
            self._variables[name] = self._metric.add_variable(
                shape=tuple(shape), initializer="zeros", dtype="float64", name=f"{self._name}_{name}"
            )

    @property
    def width(self) -> int:
        """D, 0 before the first update."""
        return int(self._variables["mean"].shape[0]) if self._variables else 0

    @property
    def count(self) -> Tensor:
        """Rows seen, a float64 scalar."""
        return ops.convert_to_tensor(self._variables["count"])

    @property
    def mean(self) -> Tensor:
        """(D,) float64."""
        return ops.convert_to_tensor(self._variables["mean"])

    @property
    def products(self) -> Tensor:
        """Sums over centred rows, of the shape that ``products`` gives; divide by `count` for (co)variances."""
        return ops.convert_to_tensor(self._variables["products"])

    @property
    def floors(self) -> Tensor:
        """(D,) the squares that rounding leaves of a neuron that is constant."""
        return self.count * ops.square(_ROUNDING * self.mean)

    def honest(self, figure: Tensor, least: int, rows: str = "rows") -> Tensor:
        """``figure``, if more than ``least`` rows were seen and all are finite.

        Args:
            figure: a scalar computed from these moments.
            least: the number of rows that is still too few: the dimensions where a covariance is decomposed.
            rows: what the message calls them.

        Raises:
            EvaluationError: too few rows, or values that are not finite. A graph can't raise: there the figure is NaN.
        """
        finite = ops.all(ops.isfinite(self.mean)) & ops.all(ops.isfinite(self.products))
        if not tf.executing_eagerly():
            return ops.where(finite & (self.count > least), figure, float("nan"))
        count = int(self.count)
        if count <= least:
            neurons = ", the number of neurons" if least > 1 else ""
            raise EvaluationError(f"{self._metric.name}: found {count} {rows}, expected more than {least}{neurons}.")
        if not bool(finite):
            raise EvaluationError(f"{self._metric.name}: found NaN or infinity among the {rows}.")
        return figure
