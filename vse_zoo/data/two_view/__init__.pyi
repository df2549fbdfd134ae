"""Two views of the same things, one matrix each: folder, writing, batches."""

from .batches import TwoViewBatches
from .folder import TwoViewData, write_two_view

__all__ = ["TwoViewBatches", "TwoViewData", "write_two_view"]
