"""Scores by optimal transport (Cross-domain alignment with optimal transport) in plain PyTorch: peers.

``per_caption`` is what the released code of such papers does, since SCAN: a loop over captions, each with its own words
against all pictures at once. ``one_batch`` is what remains when all pairs are solved together, padded and masked.
"""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["hardest_triplet", "ipot", "one_batch", "per_caption"]


@torch.no_grad()
def ipot(cost: Tensor, words: Tensor | None = None, beta: float = 0.5, iterations: int = 20) -> Tensor:
    """Plans (B, n, m) of costs (B, n, m); ``words`` (B, m) is 1 on real words and 0 on padding."""
    size, n, m = cost.shape
    words = cost.new_ones(size, m) if words is None else words
    nu = (words / words.sum(dim=1, keepdim=True)).unsqueeze(2)
    kernel = torch.exp(-cost / beta) * words.unsqueeze(1)
    plan, sigma = words.unsqueeze(1).expand(size, n, m), nu
    for _ in range(iterations):
        product = kernel * plan
        delta = 1 / (n * torch.bmm(product, sigma) + 1e-30)
        sigma = nu / (torch.bmm(product.transpose(1, 2), delta) + 1e-30)
        plan = delta * product * sigma.transpose(1, 2)
    return plan


def per_caption(regions: Tensor, words: Tensor, lengths: list[int], beta: float = 0.5, iterations: int = 20) -> Tensor:
    """−⟨T, C⟩ (N, M) of regions (N, R, E) and words (M, T, E), unit vectors."""
    scores = []
    for caption, length in zip(words, lengths, strict=True):
        cost = 1 - torch.matmul(regions, caption[:length].T)
        scores.append(-(ipot(cost, None, beta, iterations) * cost).sum(dim=(1, 2)))
    return torch.stack(scores, dim=1)


def one_batch(regions: Tensor, words: Tensor, lengths: list[int], beta: float = 0.5, iterations: int = 20) -> Tensor:
    """The same with all pairs at once."""
    cost, mask = pairs(regions, words, lengths)
    scores = -(ipot(cost, mask, beta, iterations) * cost).sum(dim=(1, 2))
    return scores.reshape(len(regions), len(words))


def pairs(regions: Tensor, words: Tensor, lengths: list[int]) -> tuple[Tensor, Tensor]:
    """Costs (N·M, R, T) of all pairs, and (N·M, T) 1 on real words."""
    cost = 1 - torch.einsum("nre,mte->nmrt", regions, words).flatten(0, 1)
    mask = (torch.arange(words.shape[1]) < torch.tensor(lengths)[:, None]).float()
    return cost, mask.repeat(len(regions), 1)


def hardest_triplet(scores: Tensor, margin: float = 0.12) -> Tensor:
    """Hinge loss with the hardest negative of each row and column, summed."""
    own = scores.diagonal()
    none = torch.eye(len(scores), dtype=torch.bool)
    by_row = (margin + scores - own[:, None]).clamp(min=0).masked_fill(none, 0)
    by_column = (margin + scores - own).clamp(min=0).masked_fill(none, 0)
    return by_row.max(1).values.sum() + by_column.max(0).values.sum()
