"""2-Way Nets (Eisenschtat & Wolf, CVPR 2017) in plain PyTorch, as one would write it there; a peer for benchmarks only.

Two channels of tied dense layers: ``h = W x + b`` forwards, ``Wᵀ y + c`` backwards; each hidden layer is followed by
leaky ReLU, a batch normalisation of the channel's own, and dropout with one mask for both channels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from numpy.typing import NDArray
from torch import Tensor, nn

Array = NDArray[np.float32]


class TwoWayNet(nn.Module):
    """``sizes``: those of view x, of the hidden layers and of view y, in this order."""

    def __init__(self, sizes: Sequence[int], position: int, dropout: float = 0.5, negative_slope: float = 0.3) -> None:
        super().__init__()
        self.position, self.dropout, self.negative_slope = position, dropout, negative_slope
        self.hidden = tuple(sizes[1:-1])
        self.kernels = nn.ParameterList(torch.empty(units, inputs) for inputs, units in pairwise(sizes))
        self.biases = nn.ParameterList(torch.zeros(units) for units in sizes[1:])
        self.reverse_biases = nn.ParameterList(torch.zeros(units) for units in sizes[:-1])
        self.norms = nn.ModuleList(self._norm(units) for units in self.hidden)
        self.reverse_norms = nn.ModuleList(self._norm(units) for units in self.hidden)
        for kernel in self.kernels:
            nn.init.xavier_uniform_(kernel)

    @staticmethod
    def _norm(units: int) -> nn.BatchNorm1d:
        # Keras' momentum 0.99 is PyTorch's 0.01.
        norm = nn.BatchNorm1d(units, eps=1e-3, momentum=0.01)
        nn.init.uniform_(norm.weight, 0.95, 1.05)
        return norm

    def forward(self, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """``(H^j(x), Ĥ^j(y), ỹ, x̃)``."""
        masks = self._masks(x) if self.training and self.dropout else None
        last = len(self.kernels)
        h = self.forwards(x, 0, self.position, masks)
        g = self.backwards(y, last, self.position, masks)
        return h, g, self.forwards(h, self.position, last, masks), self.backwards(g, self.position, 0, masks)

    def forwards(self, a: Tensor, start: int, stop: int, masks: list[Tensor] | None = None) -> Tensor:
        for i in range(start, stop):
            a = F.linear(a, self.kernels[i], self.biases[i])
            if i < len(self.hidden):
                a = self._activate(a, self.norms[i], masks and masks[i])
        return a

    def backwards(self, a: Tensor, start: int, stop: int, masks: list[Tensor] | None = None) -> Tensor:
        for i in reversed(range(stop, start)):
            a = F.linear(a, self.kernels[i].T, self.reverse_biases[i])
            if i > 0:
                a = self._activate(a, self.reverse_norms[i - 1], masks and masks[i - 1])
        return a

    def _activate(self, a: Tensor, norm: nn.Module, mask: Tensor | None) -> Tensor:
        a = norm(F.leaky_relu(a, self.negative_slope))
        return a if mask is None else a * mask

    def _masks(self, x: Tensor) -> list[Tensor]:
        kept = 1 - self.dropout
        return [torch.bernoulli(x.new_full((len(x), units), kept)) / kept**0.5 for units in self.hidden]

    @torch.no_grad()
    def set_kernels(self, kernels: Sequence[Array]) -> None:
        """Takes kernels of shape (inputs, units), as Keras keeps them; every γ becomes 1, every β and bias 0."""
        for parameter, values in zip(self.kernels, kernels, strict=True):
            parameter.copy_(torch.from_numpy(np.ascontiguousarray(values.T)))
        for norm in [*self.norms, *self.reverse_norms]:
            norm.weight.fill_(1.0)


def decorrelation(h: Tensor) -> Tensor:
    """``½ (‖C‖²_F − ‖diag C‖²)``, C = HᵀH / N."""
    covariance = h.T @ h / len(h)
    return 0.5 * (covariance.square().sum() - covariance.diagonal().square().sum())


def compound_loss(
    model: TwoWayNet, x: Tensor, y: Tensor, mid: float, weight_decay: float, decorrelated: float, inverse_gamma: float
) -> Tensor:
    """``L_x + L_y + w_h L_h + λ_w Σ ‖W‖² + λ_decov R_decov + λ_γ Σ 1/γ²``."""
    h, g, y_tilde, x_tilde = model(x, y)

    def distance(a: Tensor, b: Tensor) -> Tensor:
        return (a - b).square().sum(dim=1).mean()

    kernels = sum(kernel.square().sum() for kernel in model.kernels)
    gammas = sum(norm.weight.pow(-2).sum() for norm in [*model.norms, *model.reverse_norms])
    loss = distance(x, x_tilde) + distance(y, y_tilde) + mid * distance(h, g)
    return loss + weight_decay * kernels + decorrelated * (decorrelation(h) + decorrelation(g)) + inverse_gamma * gammas


def train(
    model: TwoWayNet, optimizer: torch.optim.Optimizer, batches: Iterator[tuple[Array, Array]], **weights: float
) -> Iterator[float]:
    """One step for each batch of both views; gives the loss before the step.

    ``weights`` are ``mid``, ``weight_decay``, ``decorrelated`` and ``inverse_gamma`` of `compound_loss`.
    """
    model.train()
    for x, y in batches:
        loss = compound_loss(model, torch.from_numpy(x), torch.from_numpy(y), **weights)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss.item()
