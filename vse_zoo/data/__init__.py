"""Raw files to a dataset folder, or a two-view folder, to tf.data batches; knows no model."""

from vse_zoo.data.dataset import Dataset, write_dataset
from vse_zoo.data.kept import KeptFile, KeptRegions
from vse_zoo.data.pipeline import PairBatches
from vse_zoo.data.pooling import pooled_regions
from vse_zoo.data.records import Phrase, Record
from vse_zoo.data.two_view import TwoViewBatches, TwoViewData, write_two_view

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
