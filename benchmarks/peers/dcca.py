"""Linear CCA and deep CCA (Andrew et al., ICML 2013) by cca-zoo on two views.

Needs ``cca-zoo>=4``, and for deep CCA ``torch`` and ``lightning``. The settings were chosen by the canonical sum of
MNIST halves' dev split: batches of 1,000 (the loss is estimated from covariances of the batch, so it must be large
against the representation; 2,000 reached 0.2 less in as many epochs), 1e-4 on the covariances' diagonals (1e-3 reached
0.9 less), Adam 3e-3 for one hidden layer (1e-3: 0.3 less) and 1e-3 for two wide ones. Leaky ReLU changed nothing.
"""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import lightning.pytorch as pl
import numpy as np
import torch
from cca_zoo.deep import DCCA, MultiviewDataset
from numpy.typing import NDArray
from torch import nn
from torch.utils.data import BatchSampler, DataLoader, RandomSampler

Views = tuple[NDArray[np.float32], NDArray[np.float32]]


@dataclass(frozen=True)
class Settings:
    """``layer_sizes``: hidden layers, then the representation, of either view's encoder."""

    layer_sizes: tuple[int, ...] = (392, 50)
    epochs: int = 40
    learning_rate: float = 3e-3
    batch_size: int = 1000
    reg_covar: float = 1e-4
    seed: int = 0


SMALL = Settings()
LARGE = Settings((1024, 1024, 50), epochs=10, learning_rate=1e-3)


def encoder(layer_sizes: Sequence[int]) -> nn.Sequential:
    """Dense layers with ReLU between them."""
    layers: list[nn.Module] = []
    for inputs, units in pairwise(layer_sizes):
        layers += [nn.Linear(inputs, units), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


@dataclass(frozen=True)
class DeepCCA:
    """A trained pair of encoders."""

    model: DCCA
    seconds: float

    def encode(self, views: Views) -> Views:
        """Both representations of rows of both views."""
        with torch.inference_mode():
            h, g = self.model([torch.from_numpy(np.asarray(view, "float32")) for view in views])
        return h.numpy(), g.numpy()


def train(views: Views, settings: Settings = SMALL) -> DeepCCA:
    """Trains cca-zoo's DCCA on the training rows of both views."""
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", module="lightning")
    torch.manual_seed(settings.seed)
    encoders: list[nn.Module] = [encoder([view.shape[1], *settings.layer_sizes]) for view in views]
    model = DCCA(settings.layer_sizes[-1], encoders, settings.learning_rate, settings.reg_covar)
    data = MultiviewDataset(list(views))
    # A whole batch at once: rows fetched one by one would take longer than the steps.
    batches = BatchSampler(RandomSampler(data), settings.batch_size, drop_last=True)
    trainer = pl.Trainer(
        max_epochs=settings.epochs,
        accelerator="cpu",
        logger=False,
        enable_progress_bar=False,
        enable_checkpointing=False,
        enable_model_summary=False,
    )
    start = time.perf_counter()
    trainer.fit(model, DataLoader(data, sampler=batches, batch_size=None))
    return DeepCCA(model.eval(), time.perf_counter() - start)


@dataclass(frozen=True)
class LinearCCA:
    """Canonical directions, one matrix a view."""

    directions: Views
    seconds: float

    def encode(self, views: Views) -> Views:
        """Canonical variates of rows of both views (not centred: correlations take the mean away)."""
        h, g = (view @ directions for view, directions in zip(views, self.directions, strict=True))
        return h, g


def linear(views: Views, components: int = 50, ridge: float = 1e-4) -> LinearCCA:
    """Regularised linear CCA in closed form.

    Args:
        views: training rows.
        components: canonical directions that are kept.
        ridge: added to either covariance's diagonal, as a share of its mean; pixels that are never inked make the
            covariances singular without it. 1e-4 is best on the dev split of MNIST halves.
    """
    start = time.perf_counter()
    h, g = (view.astype("float64") - view.mean(axis=0, dtype="float64") for view in views)
    white = [_inverse_root(view.T @ view / len(view), ridge) for view in (h, g)]
    u, _, vt = np.linalg.svd(white[0] @ (h.T @ g / len(h)) @ white[1])
    directions = white[0] @ u[:, :components], white[1] @ vt[:components].T
    return LinearCCA(directions, time.perf_counter() - start)


def _inverse_root(covariance: NDArray[np.float64], ridge: float) -> NDArray[np.float64]:
    values, vectors = np.linalg.eigh(covariance)
    return (vectors / np.sqrt(np.maximum(values, 0) + ridge * values.mean())) @ vectors.T
