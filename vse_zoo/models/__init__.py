"""The zoo's models, one folder each."""

from vse_zoo.models.base import VSEModel
from vse_zoo.models.context_attention import ContextAttentionVSE

__all__ = ["ContextAttentionVSE", "VSEModel"]
