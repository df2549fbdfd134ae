"""Retrieval figures, tables and the report of a run."""

from vse_zoo.evaluation.retrieval import Direction, RetrievalFigures, evaluate_retrieval, evaluate_scores

__all__ = ["Direction", "RetrievalFigures", "evaluate_retrieval", "evaluate_scores"]
