"""Blocks that models share, one class a file, named by their mathematics."""

from vse_zoo.layers.context_attention import ContextAttention
from vse_zoo.layers.normalization import l2_normalize

__all__ = ["ContextAttention", "l2_normalize"]
