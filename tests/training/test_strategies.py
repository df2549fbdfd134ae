"""Strategies: what is refused and what the message says, SLURM's variables, how a batch is divided."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from vse_zoo.errors import ConfigError
from vse_zoo.ops import replicas
from vse_zoo.training import strategy_scope
from vse_zoo.training.strategies import check_alike, is_chief, replica_batches
from vse_zoo.training.strategies.cluster import cluster_resolver

WORKERS = ["localhost:20001", "localhost:20002"]
VARIABLES = ("TF_CONFIG", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_NODELIST", "SLURM_STEP_TASKS_PER_NODE", "SLURM_PROCID")


@pytest.fixture(autouse=True)
def no_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


def described(cluster: Any = None, task: Any = None) -> str:
    return json.dumps({"cluster": cluster or {"worker": WORKERS}, "task": task or {"type": "worker", "index": 0}})


def test_an_unknown_strategy_is_refused() -> None:
    expected = "strategy: found 'parameter_server', expected one of: none, mirrored, multi_worker."
    with pytest.raises(ConfigError, match=expected), strategy_scope("parameter_server"):
        pass


def test_several_machines_must_be_described() -> None:
    expected = r"found neither TF_CONFIG nor the variables of a SLURM step\. Set TF_CONFIG on each machine, such as {"
    with pytest.raises(ConfigError, match=expected), strategy_scope("multi_worker"):
        pass


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{", "TF_CONFIG: not valid JSON"),
        ("[]", "field 'cluster': found None, expected the addresses of each job"),
        (described({"worker": "localhost:1"}), "field 'cluster.worker': found 'localhost:1', expected a list"),
        (described({"worker": ["localhost"]}), "field 'cluster.worker': found 'localhost', expected host:port"),
        (described({"worker": [WORKERS[0]] * 2}), "field 'cluster': found 'localhost:20001' twice"),
        (described({"ps": WORKERS}), "found the job 'ps', expected only chief and worker"),
        (described({"chief": WORKERS}), "field 'cluster.chief': found 2 addresses, expected one"),
        (described(task={"type": "chief", "index": 0}), "field 'task.type': found 'chief', expected a job of the"),
        (described(task={"type": "worker", "index": 2}), "field 'task.index': found 2, expected a number from 0 to 1"),
        (described(task={"type": "worker"}), "field 'task.index': found None"),
        (described(task="worker"), "field 'task.type': found 'worker'"),
    ],
)
def test_a_broken_tf_config_says_what_is_wrong(monkeypatch: pytest.MonkeyPatch, text: str, expected: str) -> None:
    monkeypatch.setenv("TF_CONFIG", text)
    with pytest.raises(ConfigError) as caught, strategy_scope("multi_worker"):
        pass
    assert expected in str(caught.value)
    assert 'An example: {"cluster"' in str(caught.value)


def test_tf_config_describes_the_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_CONFIG", described(task={"type": "worker", "index": 1}))
    monkeypatch.setenv("SLURM_STEP_NUM_TASKS", "7")
    resolver = cluster_resolver()
    assert resolver.cluster_spec().as_dict() == {"worker": WORKERS}
    assert (resolver.task_type, resolver.task_id) == ("worker", 1)


def test_slurm_describes_the_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {"STEP_NUM_TASKS": "3", "STEP_NODELIST": "node[07-08]", "STEP_TASKS_PER_NODE": "2,1", "PROCID": "2"}
    for name, value in found.items():
        monkeypatch.setenv(f"SLURM_{name}", value)
    resolver = cluster_resolver()
    assert resolver.cluster_spec().as_dict() == {"worker": ["node07:8888", "node07:8889", "node08:8888"]}
    assert (resolver.task_type, resolver.task_id) == ("worker", 2)
    assert resolver.num_accelerators() == {"GPU": len(tf.config.list_physical_devices("GPU"))}


def test_a_step_of_slurm_must_be_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLURM_STEP_NUM_TASKS", "3")
    with pytest.raises(ConfigError, match=r"SLURM: SLURM_PROCID not found in .*Start the training with srun"):
        cluster_resolver()


def test_tensorflow_must_not_have_run_before(monkeypatch: pytest.MonkeyPatch) -> None:
    tf.zeros(1)
    monkeypatch.setenv("TF_CONFIG", described())
    expected = r"strategy: multi_worker can't start .*Enter strategy_scope before anything else"
    with pytest.raises(ConfigError, match=expected), strategy_scope("multi_worker"):
        pass


def test_without_a_strategy_nothing_is_gathered_or_shared() -> None:
    rows = tf.constant([[1.0], [2.0]])
    with strategy_scope() as strategy:
        assert replicas.replica_count() == strategy.num_replicas_in_sync == 1
        for function in (replicas.gather_rows, replicas.sum_over_replicas, replicas.share):
            assert function(rows) is rows
        assert is_chief(strategy)
        check_alike(strategy, {"epochs": 1})


class Batches:
    """Endless batches of rows 0 to 6, as from a pipeline."""

    batch_size = 7

    def dataset(self, start_epoch: int = 0) -> tf.data.Dataset:
        rows = tf.range(7, dtype=tf.int64)
        return tf.data.Dataset.range(start_epoch, 1 << 40).map(lambda number: {"rows": number * 100 + rows})


class ThreeReplicas:
    """One worker of a strategy, which has some of three replicas."""

    num_replicas_in_sync = 3

    def __init__(self, worker: int = 0, workers: int = 1) -> None:
        self.context = SimpleNamespace(input_pipeline_id=worker, num_input_pipelines=workers)

    def distribute_datasets_from_function(self, function: Any) -> Any:
        return function(self.context)


def test_a_batch_is_divided_among_the_replicas_in_order() -> None:
    parts = [part["rows"] for part in replica_batches(Batches(), 2, ThreeReplicas()).take(6).as_numpy_iterator()]
    assert [part.tolist() for part in parts[:3]] == [[200, 201], [202, 203], [204, 205, 206]]
    np.testing.assert_array_equal(np.concatenate(parts[3:]), 300 + np.arange(7))


def test_each_worker_takes_its_own_rows() -> None:
    one, two, three = (next(iter(replica_batches(Batches(), 0, ThreeReplicas(n, 3)))) for n in range(3))
    found = [part["rows"].numpy().tolist() for part in (one, two, three)]
    assert found == [[0, 1], [2, 3], [4, 5, 6]]


def test_a_batch_needs_a_row_for_each_replica() -> None:
    batches = Batches()
    batches.batch_size = 2
    expected = "field 'train.batch_size': found batches of 2, expected at least 3, a row for each replica"
    with pytest.raises(ConfigError, match=expected):
        replica_batches(batches, 0, ThreeReplicas())
