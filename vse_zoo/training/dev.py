"""Callbacks that add the figures of the dev split to each epoch's logs: what the best epoch is chosen by."""

from __future__ import annotations

from typing import Any

import keras

from vse_zoo.data.dataset import Dataset
from vse_zoo.data.two_view import TwoViewData
from vse_zoo.errors import DataError, located
from vse_zoo.evaluation import evaluate
from vse_zoo.evaluation.correlation import evaluate_correlation

__all__ = ["DevCorrelation", "DevRetrieval"]


class DevRetrieval(keras.callbacks.Callback):
    """Adds ``val_rsum`` and the recalls on a split to each epoch's logs.

    rsum is the sum of R@1, R@5 and R@10 in both directions, over the languages.

    Args:
        dataset: the dataset folder.
        split: its split to choose models by.
    """

    monitor = "val_rsum"

    def __init__(self, dataset: Dataset, split: str = "dev") -> None:
        super().__init__()
        self.dataset = dataset
        self.split = split

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Refuses a split without captions now, not after an epoch; a `DataError` says which language lacks them."""
        for language in self.model.languages:
            if not self.dataset.captions(self.split, language)[0]:
                problem = f"split {self.split!r} has no caption in {language!r}; the best epoch is chosen by it."
                raise DataError(located(self.dataset.path, problem, do="Prepare the data with such a split."))

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Evaluates; the figures go into ``logs``, for the callbacks that come after."""
        figures = evaluate(self.model, self.dataset, self.split, self.model.languages)
        assert logs is not None
        for language, found in figures.items():
            logs[f"val_{language}_i2t_r1"] = found.i2t.r1
            logs[f"val_{language}_t2i_r1"] = found.t2i.r1
        logs["val_rsum"] = sum(found.rsum for found in figures.values())


class DevCorrelation(keras.callbacks.Callback):
    """Adds the correlation figures of two views on a split to each epoch's logs (`CorrelationFigures`, with ``val_``).

    Args:
        data: the two-view folder.
        monitor: what the best epoch is chosen by, the "canonical" or the "neuron" correlation sum.
        split: its split to choose models by.
    """

    def __init__(self, data: TwoViewData, monitor: str = "canonical", split: str = "dev") -> None:
        super().__init__()
        self.data = data
        self.monitor = f"val_{monitor}"
        self.split = split

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Refuses a folder without the split now, not after an epoch; a `DataError` lists what there is."""
        self.data.views(self.split)

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Evaluates; the figures go into ``logs``, for the callbacks that come after."""
        assert logs is not None
        found = evaluate_correlation(self.model, self.data, self.split)
        logs.update({f"val_{name}": value for name, value in found.as_dict().items()})
