"""What two representations share and how many directions one of them uses: streaming Keras metrics."""

from vse_zoo.registration import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
