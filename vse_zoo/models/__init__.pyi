"""The zoo's models, one folder each."""

from .base import VSEModel
from .context_attention import ContextAttentionVSE
from .optimal_transport import TransportVSE
from .pairwise import PairwiseVSEModel
from .two_way_net import TwoWayNet

__all__ = ["ContextAttentionVSE", "PairwiseVSEModel", "TransportVSE", "TwoWayNet", "VSEModel"]
