"""The zoo's models, one folder each."""

from vse_zoo.models.base import VSEModel
from vse_zoo.models.context_attention import ContextAttentionVSE
from vse_zoo.models.optimal_transport import TransportVSE
from vse_zoo.models.pairwise import PairwiseVSEModel
from vse_zoo.models.two_way_net import TwoWayNet

__all__ = ["ContextAttentionVSE", "PairwiseVSEModel", "TransportVSE", "TwoWayNet", "VSEModel"]
