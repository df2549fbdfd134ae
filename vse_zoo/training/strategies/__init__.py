"""Training on several devices and machines, with the weights that one device would give."""

from vse_zoo.training.strategies.batches import replica_batches
from vse_zoo.training.strategies.scope import strategy_scope
from vse_zoo.training.strategies.workers import check_alike, is_chief, wait_for_all

__all__ = ["check_alike", "is_chief", "replica_batches", "strategy_scope", "wait_for_all"]
