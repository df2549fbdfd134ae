"""Run configurations, run folders and callbacks for ``model.fit``."""

from vse_zoo.training.callbacks import BestPreset, Checkpoint, DevRetrieval, EpochSeeds
from vse_zoo.training.config import Config, load_config
from vse_zoo.training.history import read_history
from vse_zoo.training.run import Run

__all__ = ["BestPreset", "Checkpoint", "Config", "DevRetrieval", "EpochSeeds", "Run", "load_config", "read_history"]
