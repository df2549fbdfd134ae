"""Raw files to a dataset folder, or a two-view folder, to tf.data batches; knows no model."""

from .dataset import Dataset, write_dataset
from .kept import KeptFile, KeptRegions
from .pipeline import PairBatches
from .pooling import pooled_regions
from .records import Phrase, Record
from .two_view import TwoViewBatches, TwoViewData, write_two_view

__all__ = [
    "Dataset",
    "KeptFile",
    "KeptRegions",
    "PairBatches",
    "Phrase",
    "Record",
    "TwoViewBatches",
    "TwoViewData",
    "pooled_regions",
    "write_dataset",
    "write_two_view",
]
