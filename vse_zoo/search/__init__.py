"""Search in one's own photos: an index of a folder, by sentence or by picture (docs/search.md)."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
