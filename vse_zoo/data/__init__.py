"""Raw files to a dataset folder to tf.data batches; knows no model."""

from vse_zoo.data.dataset import Dataset, write_dataset
from vse_zoo.data.pipeline import PairBatches
from vse_zoo.data.records import Phrase, Record

__all__ = ["Dataset", "PairBatches", "Phrase", "Record", "write_dataset"]
