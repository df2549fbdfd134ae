"""Losses over score matrices, heads and representations, as layers: they may hold weights, saved with their model."""

from vse_zoo.registration import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
