"""What replicas cost where they can't help: steps a second on one device, two virtual devices and two processes.

    python benchmarks/strategies.py [--batch-size 64 --steps 30 --models context_attention,two_way_net]

Every process may use all cores, which the replicas share, so that no figure can be better than that of one device: the
ratios are the overhead. Random data in memory; each process trains on the same global batches.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

KINDS = ("context_attention", "optimal_transport", "two_way_net")
REGIONS, DIM, WORDS, LENGTH = 9, 1280, 2000, 12
WARM_UP = 5


class Batches:
    """One batch over and over."""

    def __init__(self, kind: str, rows: int) -> None:
        import numpy as np

        self.batch_size = rows
        random = np.random.default_rng(0)
        if kind == "two_way_net":
            self.batch: dict[str, Any] = {
                name: random.normal(size=(rows, 392)).astype("float32") for name in ("x", "y")
            }
            return
        self.batch = {
            "regions": random.normal(size=(rows, REGIONS, DIM)).astype("float32"),
            "region_mask": np.ones((rows, REGIONS), bool),
            "text": {"en": random.integers(1, WORDS, (rows, LENGTH)).astype("int32")},
            "text_mask": {"en": np.ones(rows, bool)},
            "image_id": np.arange(rows, dtype="int32"),
        }

    def dataset(self, start_epoch: int = 0) -> Any:
        import tensorflow as tf

        return tf.data.Dataset.from_tensors(self.batch).repeat()


def model_of(kind: str) -> Any:
    """A model of a size that people train."""
    from vse_zoo import models
    from vse_zoo.preprocessing import TextPreprocessor

    if kind == "two_way_net":
        return models.TwoWayNet([392, 50, 392], 392, 392, dropout=0.0)
    words = TextPreprocessor.from_captions({"en": [f"word{number}" for number in range(WORDS)]}, minimum_count=1)
    kinds = {"context_attention": models.ContextAttentionVSE, "optimal_transport": models.TransportVSE}
    return kinds[kind](words, DIM, units=256)


def measure(kind: str, strategy: str, rows: int, steps: int) -> float:
    """Steps a second of ``model.fit``, after some that warm up."""
    import keras
    import tensorflow as tf

    from vse_zoo.training.strategies import replica_batches, strategy_scope

    if strategy == "mirrored":
        cpu = tf.config.list_physical_devices("CPU")[0]
        tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    with strategy_scope(strategy) as found:
        keras.utils.set_random_seed(0)
        model = model_of(kind)
        model.build()
        model.compile(keras.optimizers.SGD(1e-3), jit_compile=False)
    batches = replica_batches(Batches(kind, rows), 0, found)
    model.fit(batches, steps_per_epoch=WARM_UP, verbose=0)
    start = time.perf_counter()
    model.fit(batches, steps_per_epoch=steps, verbose=0)
    return steps / (time.perf_counter() - start)


def processes(kind: str, strategy: str, folder: Path, options: list[str]) -> float:
    """The figure of one process, or of the first of two."""
    count = 2 if strategy == "multi_worker" else 1
    addresses = [f"localhost:{port}" for port in _free_ports(count)]
    started = []
    for index in range(count):
        environment = dict(os.environ)
        if strategy == "multi_worker":
            task = {"cluster": {"worker": addresses}, "task": {"type": "worker", "index": index}}
            environment["TF_CONFIG"] = json.dumps(task)
        with (folder / f"{index}.log").open("wb") as log:
            command = [sys.executable, __file__, *options, "--one", kind, strategy, str(folder / f"{index}.json")]
            started.append(subprocess.Popen(command, env=environment, stdout=log, stderr=log))
    codes = [process.wait() for process in started]
    if any(codes):
        raise SystemExit((folder / "0.log").read_text(errors="replace")[-3000:])
    return float(json.loads((folder / "0.json").read_text()))


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("localhost", 0))
    ports = [int(each.getsockname()[1]) for each in sockets]
    for each in sockets:
        each.close()
    return ports


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--models", default=",".join(KINDS))
    parser.add_argument("--one", nargs=3, metavar=("MODEL", "STRATEGY", "OUT"), help="measure one, in this process")
    args = parser.parse_args()
    if args.one:
        kind, strategy, out = args.one
        Path(out).write_text(json.dumps(measure(kind, strategy, args.batch_size, args.steps)))
        return
    options = ["--batch-size", str(args.batch_size), "--steps", str(args.steps)]
    print(f"{os.cpu_count()} cores, batches of {args.batch_size}; steps/s, and as a share of one device's")
    print(f"{'':20}{'1 device':>10}{'2 virtual devices':>24}{'2 processes':>20}")
    for kind in args.models.split(","):
        with tempfile.TemporaryDirectory() as folder:
            one, two, workers = (
                processes(kind, strategy, Path(folder), options) for strategy in ("none", "mirrored", "multi_worker")
            )
        shares = f"{two:>15.2f} ({two / one:4.0%}){'':2}{workers:>11.2f} ({workers / one:4.0%})"
        print(f"{kind:20}{one:>10.2f}{shares}", flush=True)


if __name__ == "__main__":
    main()
