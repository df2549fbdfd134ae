"""Strings and features to model inputs, in TensorFlow ops that are saved and exported with the model."""

from vse_zoo.registration import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
