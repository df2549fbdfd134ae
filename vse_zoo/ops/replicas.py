"""What a step knows of the other replicas of a `tf.distribute` strategy; without a strategy there is one replica."""

from __future__ import annotations

from functools import reduce
from typing import Any

import tensorflow as tf
from keras import ops

__all__ = ["gather_rows", "one_row_at_least", "replica_count", "share", "sum_over_replicas", "worker_count"]

Tensor = Any

_CARRIERS = {tf.bool: tf.int32, tf.bfloat16: tf.float32}
"""For types that collectives have no kernels for."""


def _context() -> Any:
    """The replica that runs; None outside of a step, as where Keras traces shapes, and where there is only one."""
    context = tf.distribute.get_replica_context()
    return context if context is not None and context.num_replicas_in_sync > 1 else None


def replica_count() -> int:
    """The number of replicas that a step runs on together."""
    context = _context()
    return 1 if context is None else int(context.num_replicas_in_sync)


def gather_rows(rows: Tensor) -> Tensor:
    """The rows of all replicas, in the order of the global batch; the identity where there is one replica.

    A row's gradient is the sum of what it gets on every replica, so that a loss of all rows, divided by the number of
    replicas (`share`), gives the gradients of one device.

    Args:
        rows: (b, …) of this replica, any type; b may differ between the replicas and be 0, the other sizes must agree.

    Returns:
        (B, …), B the sum of all b.
    """
    context = _context()
    if context is None:
        return rows
    # An input of the step isn't placed on a device yet, which collectives need; what is computed is.
    values = tf.identity(tf.cast(rows, _CARRIERS.get(tf.as_dtype(rows.dtype), rows.dtype)))
    gathered = context.all_gather(values, axis=0)
    gathered.set_shape([None, *values.shape[1:]])
    return tf.cast(gathered, rows.dtype)


def one_row_at_least(rows: Tensor) -> Tensor:
    """Rows (b, …), and a row of zeros where a replica has none; the identity where there is one replica."""
    if replica_count() == 1:
        return rows
    empty = tf.cast(tf.shape(rows)[0] == 0, tf.int32)
    return tf.pad(rows, [[0, empty], *([0, 0] for _ in rows.shape[1:])])


def sum_over_replicas(value: Any) -> Any:
    """The sum of the replicas' tensors, of one shape on all of them; gradients flow to all. Takes nested structures."""
    context = _context()
    return value if context is None else context.all_reduce(tf.distribute.ReduceOp.SUM, value)


def share(*terms: Tensor) -> Tensor:
    """A replica's share of a loss that every replica computes of the global batch: Keras adds up their gradients.

    Args:
        terms: the scalars whose sum is the loss, of any float types; the sum has the widest of them.
    """
    loss = reduce(ops.add, terms)
    count = replica_count()
    return loss if count == 1 else loss / count


def worker_count(strategy: Any) -> int:
    """The number of processes that train together under a strategy."""
    if not isinstance(strategy, tf.distribute.MultiWorkerMirroredStrategy):
        return 1
    return max(1, sum(len(tasks) for tasks in strategy.cluster_resolver.cluster_spec().as_dict().values()))
