"""Mixtures whose every dimension is Gaussian or Laplacian: GMM and HGLMM (Klein et al., CVPR 2015)."""

from __future__ import annotations

import zipfile
import zlib
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from scipy.special import logsumexp, softmax

from vse_zoo.errors import DataError, located
from vse_zoo.files import replacing

__all__ = ["Mixture"]

# Rows at a time: the temporaries of one component stay in the processor's cache.
_ROWS = 512


@dataclass(frozen=True, eq=False)
class Mixture:
    """``p(x) = Σ_k w_k Π_d p_kd(x_d)``, each p_kd a Gaussian N(μ, σ²) or a Laplacian exp(−|x − m| / s) / 2s.

    A GMM with diagonal covariances is the case in which all dimensions are Gaussian.

    Args:
        weights: (K,) w, positive, summing to 1.
        locations: (K, D) μ or m.
        scales: (K, D) σ or s, positive.
        gaussian: (K, D) bool, True where the dimension is Gaussian and False where it is Laplacian.

    Raises:
        DataError: the shapes do not fit, or a number is not finite, not positive or not a share.
    """

    weights: np.ndarray
    locations: np.ndarray
    scales: np.ndarray
    gaussian: np.ndarray

    def __post_init__(self) -> None:
        for field in fields(self):
            dtype = np.bool_ if field.name == "gaussian" else np.float64
            object.__setattr__(self, field.name, np.array(getattr(self, field.name), dtype))
        problem = self._problem()
        if problem:
            raise DataError(f"mixture: {problem}")

    @property
    def components(self) -> int:
        """K."""
        return self.locations.shape[0]

    @property
    def dim(self) -> int:
        """D, the length of the vectors."""
        return self.locations.shape[1]

    def log_density(self, vectors: np.ndarray) -> np.ndarray:
        """``log p(x)`` of each row of (N, D) vectors: (N,) float64."""
        return np.asarray(logsumexp(self.log_joint(vectors), axis=1))

    def responsibilities(self, vectors: np.ndarray) -> np.ndarray:
        """``γ_k(x) = w_k p_k(x) / p(x)`` of each row of (N, D) vectors: (N, K) float64, rows sum to 1."""
        return np.asarray(softmax(self.log_joint(vectors), axis=1))

    def log_joint(self, vectors: np.ndarray) -> np.ndarray:
        """``log w_k p_k(x)`` of each row of (N, D) vectors: (N, K) float64."""
        vectors = np.asarray(vectors, np.float64)
        if vectors.ndim != 2 or vectors.shape[1] != self.dim:
            raise DataError(f"vectors: found shape {vectors.shape}, expected (N, {self.dim}) as in the mixture.")
        peaks = -np.log(np.where(self.gaussian, np.sqrt(2 * np.pi), 2.0) * self.scales).sum(axis=1)
        joint = np.empty((len(vectors), self.components))
        for start in range(0, len(vectors), _ROWS):
            rows = slice(start, start + _ROWS)
            for k in range(self.components):
                distance = np.abs(vectors[rows] - self.locations[k]) / self.scales[k]
                # ½ z² where Gaussian, |z| where Laplacian.
                joint[rows, k] = -np.einsum("nd,nd->n", distance, np.where(self.gaussian[k], 0.5 * distance, 1.0))
        return joint + peaks + np.log(self.weights)

    def save(self, path: str | Path) -> None:
        """Writes the four arrays to an .npz file, atomically."""
        path = Path(path)
        with replacing(path) as temporary, temporary.open("wb") as file:
            np.savez(file, **{field.name: getattr(self, field.name) for field in fields(self)})

    @classmethod
    def load(cls, path: str | Path) -> Mixture:
        """Reads what `save` wrote, without pickle; a missing, damaged or unfitting file is a `DataError`."""
        path = Path(path)
        again = "Fit the mixture again."
        names = [field.name for field in fields(cls)]
        try:
            with np.load(path, allow_pickle=False) as arrays:
                missing = [name for name in names if name not in arrays]
                if missing:
                    problem = f"found the arrays {', '.join(sorted(arrays))}, expected {', '.join(names)}."
                    raise DataError(located(path, problem, field=missing[0], do=again))
                return cls(**{name: arrays[name] for name in names})
        except FileNotFoundError:
            raise DataError(located(path, "no such file.")) from None
        except DataError as error:
            raise error if str(path) in str(error) else DataError(located(path, str(error), do=again)) from None
        except (OSError, ValueError, TypeError, EOFError, AttributeError, zipfile.BadZipFile, zlib.error) as error:
            raise DataError(located(path, f"not a whole .npz file ({error}).", do=again)) from None

    def _problem(self) -> str | None:
        """What is wrong with the arrays, or None."""
        if self.weights.ndim != 1 or self.locations.ndim != 2 or not self.locations.size:
            return f"found weights {self.weights.shape} and locations {self.locations.shape}, expected (K,) and (K, D)."
        for name in ("scales", "gaussian"):
            if getattr(self, name).shape != self.locations.shape:
                return f"found {name} of shape {getattr(self, name).shape}, expected {self.locations.shape}."
        if len(self.weights) != self.components:
            return f"found {len(self.weights)} weights, expected {self.components}, as there are locations."
        if not all(np.isfinite(array).all() for array in (self.weights, self.locations, self.scales)):
            return "found a number that is not finite."
        if (self.scales <= 0).any() or (self.weights <= 0).any():
            return "found a scale or weight that is not positive."
        if abs(self.weights.sum() - 1) > 1e-6:
            return f"found weights that sum to {self.weights.sum():.6g}, expected 1."
        return None
