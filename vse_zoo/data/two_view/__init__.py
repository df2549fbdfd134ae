"""Two views of the same things, one matrix each: folder, writing, batches."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
