"""Raw files to a dataset folder, or a two-view folder, to tf.data batches; knows no model."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
