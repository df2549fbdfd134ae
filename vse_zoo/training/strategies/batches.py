"""Batches of a run, each divided among the replicas of a strategy."""

from __future__ import annotations

from typing import Any

from vse_zoo.data.batches import Batches, distributed

__all__ = ["replica_batches"]


def replica_batches(batches: Batches, start_epoch: int, strategy: Any) -> Any:
    """The batches from an epoch on, of which each replica gets its rows (`vse_zoo.data.batches.distributed`).

    ``model.fit`` of the zoo's models does so by itself; this is for other models and loops.

    Args:
        batches: of the run.
        start_epoch: the epoch to start with.
        strategy: that in whose scope the model was built.

    Raises:
        ConfigError: a batch has fewer rows than there are replicas.
    """
    return distributed(lambda: batches.dataset(start_epoch), batches.batch_size, strategy)
