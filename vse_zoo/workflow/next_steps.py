"""What to run once a dataset folder has its features."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from vse_zoo.data.dataset import Dataset
from vse_zoo.registry import recipe_names

__all__ = ["training_commands"]

# 2-Way Nets average the regions, the others attend to them or align them; its default configuration is of two views.
_OF_REGIONS = {"context_attention": "", "optimal_transport": "", "two_way_net": " --config flickr8k_zoo"}

_LOOKED_AT = 8


def training_commands(dataset: Dataset, data: Path) -> list[str]:
    """The commands that train on the dataset, the one that suits its regions first."""
    names = [name for name in _OF_REGIONS if name in recipe_names()]
    if dataset.regions(np.arange(min(len(dataset), _LOOKED_AT)))[1].shape[1] == 1:
        names.sort(key=lambda name: name != "two_way_net")
    return [f"vse-zoo train {name}{_OF_REGIONS[name]} --data {data} --out runs/{name}" for name in names]
