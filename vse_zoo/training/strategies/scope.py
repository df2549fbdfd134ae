"""A strategy by its name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import tensorflow as tf

from vse_zoo.errors import ConfigError
from vse_zoo.training.strategies.cluster import cluster_resolver

__all__ = ["strategy_scope"]


@contextmanager
def strategy_scope(name: str = "none") -> Iterator[Any]:
    """Models that are built within train on all devices; enter it before anything else of TensorFlow is run.

    Call ``model.fit`` after it, not within: what callbacks create there would be spread over the devices, too.

    Args:
        name: "none"; "mirrored", all GPUs of this machine (without one all logical CPUs, of which there is one unless
            TensorFlow is told otherwise); or "multi_worker", all machines that TF_CONFIG or SLURM's variables name.

    Yields:
        The `tf.distribute` strategy, TensorFlow's default one for "none".

    Raises:
        ConfigError: the name is unknown, the machines are not described or described wrongly, or TensorFlow has run
            before.
    """
    makers = {"none": tf.distribute.get_strategy, "mirrored": _mirrored, "multi_worker": _multi_worker}
    if name not in makers:
        raise ConfigError(f"strategy: found {name!r}, expected one of: {', '.join(makers)}.")
    strategy = makers[name]()
    if name == "none":
        yield strategy
        return
    with strategy.scope():
        yield strategy


# One object for all scopes of a process: each numbers its collectives from the same start, and two would mix them up.
@cache
def _mirrored() -> Any:
    devices = tf.config.list_logical_devices("GPU") or tf.config.list_logical_devices("CPU")
    return tf.distribute.MirroredStrategy([device.name for device in devices])


@cache
def _multi_worker() -> Any:
    resolver = cluster_resolver()
    try:
        return tf.distribute.MultiWorkerMirroredStrategy(cluster_resolver=resolver)
    except RuntimeError as error:
        do = "Enter strategy_scope before anything else of TensorFlow is run."
        raise ConfigError(f"strategy: multi_worker can't start ({error}). {do}") from error
