"""Multi-head attention with diversity: model.py, and README.md with the paper's equations and our deviations."""

from vse_zoo.models.context_attention.contextual import ContextualWords
from vse_zoo.models.context_attention.extending import extend_language
from vse_zoo.models.context_attention.model import ContextAttentionVSE
from vse_zoo.models.context_attention.states import precomputed_states

__all__ = ["ContextAttentionVSE", "ContextualWords", "extend_language", "precomputed_states"]
