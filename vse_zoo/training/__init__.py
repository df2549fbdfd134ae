"""Run configurations, run folders and callbacks for ``model.fit``."""

from vse_zoo.training.callbacks import BestPreset, Checkpoint, EpochSeeds
from vse_zoo.training.configs import (
    AddLanguageConfig,
    ContextAttentionConfig,
    OptimalTransportConfig,
    TwoWayNetConfig,
    load_config,
)
from vse_zoo.training.dev import DevCorrelation, DevRetrieval
from vse_zoo.training.grid import run_grid
from vse_zoo.training.history import read_history
from vse_zoo.training.run import Run
from vse_zoo.training.strategies import strategy_scope
from vse_zoo.training.text_inputs import TextInputs

__all__ = [
    "AddLanguageConfig",
    "BestPreset",
    "Checkpoint",
    "ContextAttentionConfig",
    "OptimalTransportConfig",
    "DevCorrelation",
    "DevRetrieval",
    "EpochSeeds",
    "Run",
    "TextInputs",
    "TwoWayNetConfig",
    "load_config",
    "read_history",
    "run_grid",
    "strategy_scope",
]
