"""Blocks that models share, one class a file, named by their mathematics."""

from vse_zoo.layers.context_attention import ContextAttention
from vse_zoo.layers.leaky_batch_norm import LeakyBatchNorm
from vse_zoo.layers.locally_dense import LocallyDense
from vse_zoo.layers.normalization import l2_normalize
from vse_zoo.layers.ot_similarity import OTSimilarity
from vse_zoo.layers.standardization import Standardization
from vse_zoo.layers.tied_dense import TiedDense
from vse_zoo.layers.tied_dropout import TiedDropout
from vse_zoo.layers.whitening import Whitening

__all__ = [
    "ContextAttention",
    "LeakyBatchNorm",
    "LocallyDense",
    "OTSimilarity",
    "Standardization",
    "TiedDense",
    "TiedDropout",
    "Whitening",
    "l2_normalize",
]
