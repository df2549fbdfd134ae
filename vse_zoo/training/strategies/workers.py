"""The processes that train together: one of them is the chief, and all must have begun alike."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from vse_zoo.errors import ConfigError
from vse_zoo.ops.replicas import worker_count

__all__ = ["check_alike", "is_chief", "wait_for_all"]


def is_chief(strategy: Any) -> bool:
    """Whether this process writes the run's files: the task of the job "chief", or else worker 0."""
    if worker_count(strategy) == 1:
        return True
    resolver = strategy.cluster_resolver
    if "chief" in resolver.cluster_spec().jobs:
        return bool(resolver.task_type == "chief")
    return bool(resolver.task_id == 0)


def check_alike(strategy: Any, values: Mapping[str, Any]) -> None:
    """Compares values that JSON can hold between all workers, as they would train differently without a word.

    Args:
        strategy: that in whose scope the model was built.
        values: by what the message calls them.

    Raises:
        ConfigError: some worker has another value; raised on all of them.
    """
    if worker_count(strategy) == 1:
        return
    sums = [zlib.crc32(json.dumps(value, sort_keys=True).encode()) & 0x7FFFFFFF for value in values.values()]
    found = _gathered(strategy, [sums])
    for name, column in zip(values, found.T, strict=True):
        if len(set(column.tolist())) > 1:
            do = "Give all the same command and data, and an --out that is the same folder for all."
            raise ConfigError(f"strategy: the workers differ in {name}; this one has {values[name]}. {do}")


def wait_for_all(strategy: Any) -> None:
    """Returns when all workers have come here: one that ended before would look to the others as if it had died."""
    if worker_count(strategy) > 1:
        _gathered(strategy, [[0]])


def _gathered(strategy: Any, rows: list[list[int]]) -> Any:
    """The rows of all replicas, as an array."""
    value = tf.constant(rows, tf.int32)
    each = tf.function(lambda: strategy.run(tf.identity, (value,)))()
    return strategy.gather(each, axis=0).numpy()
