"""Exact ranking by bounds: the best items of a query without scoring every pair."""
