"""Which machines train together, and which of them this one is: from TF_CONFIG, or from SLURM's variables."""

from __future__ import annotations

import json
import os
import re
from typing import Any

import tensorflow as tf

from vse_zoo.errors import ConfigError, located

__all__ = ["cluster_resolver"]

_EXAMPLE = '{"cluster": {"worker": ["host1:12345", "host2:12345"]}, "task": {"type": "worker", "index": 0}}'
_JOBS = ("chief", "worker")
_PORT = 8888
"""Of the first task on a machine under SLURM."""


def cluster_resolver() -> Any:
    """What `tf.distribute.MultiWorkerMirroredStrategy` is told of the cluster; TF_CONFIG goes before SLURM.

    Raises:
        ConfigError: neither is there, or it is wrong; the message names the field.
    """
    if "TF_CONFIG" in os.environ:
        _check(os.environ["TF_CONFIG"])
        return tf.distribute.cluster_resolver.TFConfigClusterResolver()
    if "SLURM_STEP_NUM_TASKS" in os.environ:
        return _slurm()
    do = f"Set TF_CONFIG on each machine, such as {_EXAMPLE}, or start with srun."
    raise ConfigError(f"strategy: multi_worker found neither TF_CONFIG nor the variables of a SLURM step. {do}")


def _slurm() -> Any:
    """SLURM says which tasks there are. It also gives each its GPUs, which TensorFlow's resolver would divide again."""
    found = tf.distribute.cluster_resolver.SlurmClusterResolver
    try:
        slurm = found(port_base=_PORT, gpus_per_node=1 << 16, gpus_per_task=1, auto_set_gpu=False)
        cluster = slurm.cluster_spec()
    except (RuntimeError, ValueError) as error:
        raise ConfigError(located("SLURM", f"{error}.", do="Start the training with srun.")) from error
    return tf.distribute.cluster_resolver.SimpleClusterResolver(
        cluster,
        task_type=slurm.task_type,
        task_id=slurm.task_id,
        num_accelerators={"GPU": len(tf.config.list_physical_devices("GPU"))},
        rpc_layer="grpc",
    )


def _check(text: str) -> None:
    try:
        values = json.loads(text)
    except json.JSONDecodeError as error:
        raise _wrong(f"not valid JSON ({error})") from None
    cluster = values.get("cluster") if isinstance(values, dict) else None
    if not isinstance(cluster, dict) or not cluster:
        raise _wrong(f"found {cluster!r}, expected the addresses of each job", "cluster")
    for job, addresses in cluster.items():
        _check_job(job, addresses)
    everywhere = [address for addresses in cluster.values() for address in addresses]
    if twice := [address for address in everywhere if everywhere.count(address) > 1]:
        raise _wrong(f"found {twice[0]!r} twice, expected an address of its own for each task", "cluster")
    if len(cluster.get("chief", [""])) != 1:
        raise _wrong(f"found {len(cluster['chief'])} addresses, expected one", "cluster.chief")
    _check_task(values.get("task"), cluster)


def _check_job(job: str, addresses: Any) -> None:
    if job not in _JOBS:
        raise _wrong(f"found the job {job!r}, expected only {' and '.join(_JOBS)}", "cluster")
    if not isinstance(addresses, list) or not addresses:
        raise _wrong(f"found {addresses!r}, expected a list of addresses", f"cluster.{job}")
    for address in addresses:
        if not isinstance(address, str) or not re.fullmatch(r".+:\d+", address):
            raise _wrong(f"found {address!r}, expected host:port", f"cluster.{job}")


def _check_task(task: Any, cluster: dict[str, list[str]]) -> None:
    if not isinstance(task, dict) or task.get("type") not in cluster:
        found = task.get("type") if isinstance(task, dict) else task
        raise _wrong(f"found {found!r}, expected a job of the cluster: {', '.join(cluster)}", "task.type")
    count = len(cluster[task["type"]])
    index = task.get("index")
    if not isinstance(index, int) or not 0 <= index < count:
        raise _wrong(f"found {index!r}, expected a number from 0 to {count - 1}", "task.index")


def _wrong(problem: str, field: str | None = None) -> ConfigError:
    return ConfigError(located("TF_CONFIG", f"{problem}.", field=field, do=f"An example: {_EXAMPLE}"))
