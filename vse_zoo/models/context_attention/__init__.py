"""Multi-head attention with diversity: model.py, and README.md with the paper's equations and our deviations."""

from vse_zoo.models.context_attention.model import ContextAttentionVSE

__all__ = ["ContextAttentionVSE"]
