"""Retrieval figures, tables and the report of a run."""

from .evaluate import embed_captions, embed_images, evaluate, evaluate_each, figures_as_dict, total_rsum
from .retrieval import Direction, RetrievalFigures, evaluate_retrieval, evaluate_scores

__all__ = [
    "Direction",
    "RetrievalFigures",
    "embed_captions",
    "embed_images",
    "evaluate",
    "evaluate_each",
    "evaluate_retrieval",
    "evaluate_scores",
    "figures_as_dict",
    "total_rsum",
]
