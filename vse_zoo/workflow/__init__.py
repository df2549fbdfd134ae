"""Whole jobs made of the package's parts, one a file: what the command line runs."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
