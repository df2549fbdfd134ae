"""Images to region features, by frozen backbones."""

from vse_zoo.registration import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
