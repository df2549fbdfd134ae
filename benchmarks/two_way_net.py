"""Training steps of our TwoWayNet beside a plain PyTorch version of it (peers/two_way_net_torch.py), in one run.

    python benchmarks/two_way_net.py [--mnist mnist.npz] [--threads 2 --rounds 9 --steps 200]

MNIST halves, 392–[392, 50, 392]–392 and the paper's loss. Both start from the same kernels and see the same batches in
the same order; rounds of steps alternate, ours by ``model.fit``, PyTorch's by a loop, and the median round counts.
Without dropout both must have the same loss after the same steps; with it each draws its own masks. Needs ``torch``,
and cores of its own: where other processes want them too, neither time means anything.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf
import torch
from numpy.typing import NDArray
from peers import two_way_net_torch as peer

from vse_zoo.data.sources.mnist_halves import read_mnist_halves
from vse_zoo.models import TwoWayNet

Views = tuple[NDArray[np.float32], NDArray[np.float32]]
Round = Callable[[], float]
HIDDEN, BATCH, WEIGHT = (392, 50, 392), 128, 0.05


def ours(dims: tuple[int, int], dropout: float, args: argparse.Namespace) -> TwoWayNet:
    keras.utils.set_random_seed(0)
    model = TwoWayNet(HIDDEN, *dims, dropout=dropout, weight_decay=WEIGHT, gamma_strength=WEIGHT)
    model.build()
    for norm in (norm for layer in model.channels.norms for norm in layer.norms):
        norm.gamma.assign(np.ones(norm.gamma.shape))
    model.compile(
        optimizer=keras.optimizers.SGD(args.learning_rate, momentum=0.9, nesterov=True),
        jit_compile=args.jit,
        steps_per_execution=args.steps_per_execution,
    )
    return model


def our_round(model: TwoWayNet, views: Views) -> Round:
    """A round that gives the mean loss over its steps; what is read from disk in practice is ready in memory."""
    batches = tf.data.Dataset.from_tensor_slices(dict(zip("xy", views, strict=True))).batch(BATCH).prefetch(2)
    return lambda: float(model.fit(batches, epochs=1, shuffle=False, verbose=0).history["loss"][0])


def peers_round(model: peer.TwoWayNet, optimizer: torch.optim.Optimizer, views: Views) -> Round:
    weights = {"mid": 1.0, "weight_decay": WEIGHT, "decorrelated": WEIGHT, "inverse_gamma": WEIGHT}
    x, y = (np.split(view, len(view) // BATCH) for view in views)
    return lambda: float(np.mean(list(peer.train(model, optimizer, zip(x, y, strict=True), **weights))))


def compare(views: Views, dropout: float, args: argparse.Namespace) -> dict[str, Any]:
    """Median seconds of a round and the last round's loss, ours first."""
    keras_model = ours((views[0].shape[1], views[1].shape[1]), dropout, args)
    sizes = (views[0].shape[1], *HIDDEN, views[1].shape[1])
    torch_model = peer.TwoWayNet(sizes, keras_model.channels.architecture.position, dropout)
    torch_model.set_kernels([layer.kernel.numpy() for layer in keras_model.channels.maps])
    optimizer = torch.optim.SGD(torch_model.parameters(), args.learning_rate, momentum=0.9, nesterov=True)
    random = np.random.default_rng(0)
    seconds, losses = [], []
    for _ in range(args.rounds + 1):
        rows = random.choice(len(views[0]), args.steps * BATCH, replace=False)
        block = views[0][rows], views[1][rows]
        rounds = our_round(keras_model, block), peers_round(torch_model, optimizer, block)
        times = []
        for one in rounds:
            start = time.perf_counter()
            losses.append(one())
            times.append(time.perf_counter() - start)
        seconds.append(times)
    # The first round traces the graph.
    return {"seconds": np.median(seconds[1:], axis=0), "losses": losses[-2:]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mnist", type=Path, help="mnist.npz; by default Keras downloads it")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--steps", type=int, default=200, help="a round")
    parser.add_argument("--learning-rate", type=float, default=1e-4)
    parser.add_argument("--no-jit", dest="jit", action="store_false", help="do not compile our step with XLA")
    parser.add_argument("--steps-per-execution", type=int, default=20, help="of ours, as in the recipe")
    args = parser.parse_args()
    tf.config.threading.set_intra_op_parallelism_threads(args.threads)
    tf.config.threading.set_inter_op_parallelism_threads(args.threads)
    torch.set_num_threads(args.threads)
    views = read_mnist_halves(args.mnist).splits["train"]
    print("| dropout | ours | PyTorch | faster | our loss | PyTorch's loss |\n| --- |" + " ---: |" * 5, flush=True)
    for dropout in (0.0, 0.5):
        found = compare(views, dropout, args)
        a, b = found["seconds"] / args.steps * 1000
        losses = " | ".join(f"{loss:.6f}" for loss in found["losses"])
        print(f"| {dropout} | {a:.2f} ms | {b:.2f} ms | {b / a:.2f}× | {losses} |", flush=True)


if __name__ == "__main__":
    main()
