"""Optimal transport between sets, masked and batched, in TensorFlow."""

from vse_zoo.ops.rounding import round_plan
from vse_zoo.ops.set_scores import SetScores, set_scores
from vse_zoo.ops.transport import TransportPlan, transport_plan

__all__ = ["SetScores", "TransportPlan", "round_plan", "set_scores", "transport_plan"]
