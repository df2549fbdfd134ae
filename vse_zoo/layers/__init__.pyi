"""Blocks that models share, one class a file, named by their mathematics."""

from .context_attention import ContextAttention
from .leaky_batch_norm import LeakyBatchNorm
from .locally_dense import LocallyDense
from .normalization import l2_normalize
from .ot_similarity import OTSimilarity
from .standardization import Standardization
from .tied_dense import TiedDense
from .tied_dropout import TiedDropout
from .whitening import Whitening

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
