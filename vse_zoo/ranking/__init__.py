"""Exact ranking by bounds: the best items of a query without scoring every pair."""

from vse_zoo.ranking.protocol import PairScorer
from vse_zoo.ranking.scorer import TransportScorer
from vse_zoo.ranking.top_k import TopK, best_items, top_k
from vse_zoo.ranking.true_ranks import TrueRanks, true_ranks

__all__ = ["PairScorer", "TopK", "TransportScorer", "TrueRanks", "best_items", "top_k", "true_ranks"]
