"""Two views of the same things, one matrix each: folder, writing, batches."""

from vse_zoo.data.two_view.batches import TwoViewBatches
from vse_zoo.data.two_view.folder import TwoViewData, write_two_view

__all__ = ["TwoViewBatches", "TwoViewData", "write_two_view"]
