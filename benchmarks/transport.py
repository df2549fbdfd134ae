"""All-pairs scores by optimal transport beside PyTorch, POT, GeomLoss and OTT-JAX, in one run.

    python benchmarks/transport.py [--threads 2 --rounds 5] [--quick]

128 pictures of 36 regions × 128 sentences of 8–25 words, 256 dimensions, 20 iterations. All run on the same cores, one
after another in each round, and the median round counts. Gap and error are those of the plans of the first 16 × 16
pairs: (⟨T, C⟩ − exact) / exact, the median, and the mass that breaks the marginals, the largest. Then a training step,
with the gradient to regions and words, and how our time grows. Needs ``torch``, ``POT``, ``geomloss`` and ``ott-jax``,
and cores of its own: where other processes want them too, no time means anything.
"""

from __future__ import annotations

import argparse
import functools
import os
import time
from collections.abc import Callable, Iterator
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf
import torch
from numpy.typing import NDArray
from peers import transport_libraries as libraries
from peers import transport_quality as quality
from peers import transport_torch as peer
from peers.transport_quality import Batch, draw

from vse_zoo.layers import OTSimilarity
from vse_zoo.losses import TripletLoss

Array = NDArray[Any]
Run = Callable[[], Array]
MARGIN, SLOW = 0.12, 4.0


def ours(batch: Batch, iterations: int) -> Run:
    layer = OTSimilarity(iterations=iterations)
    arguments = [tf.constant(each) for each in (batch.regions, batch.words)]
    return lambda: layer(*arguments, word_mask=batch.mask).numpy()


def peers(batch: Batch, iterations: int) -> dict[str, Run]:
    tensors = [torch.from_numpy(each) for each in (batch.regions, batch.words)]
    lengths, jax_arrays = batch.lengths.tolist(), [libraries.jnp.asarray(each) for each in batch]
    setting = (quality.EPSILON, iterations)
    runs: dict[str, Run] = {
        "PyTorch, per caption": lambda: peer.per_caption(*tensors, lengths, iterations=iterations).numpy(),
        "PyTorch, one batch": lambda: peer.one_batch(*tensors, lengths, iterations=iterations).numpy(),
    }
    for name in libraries.SOLVERS:
        if name.startswith("OTT"):
            runs[name] = functools.partial(_array, libraries.ott_scores, name, *jax_arrays, *setting)
        else:
            runs[name] = functools.partial(_array, libraries.torch_scores, name, *tensors, lengths, *setting)
    return runs


def _array(function: Callable[..., Any], *arguments: Any) -> Array:
    return np.asarray(function(*arguments))


def step_of_ours(batch: Batch, iterations: int) -> Run:
    layer, loss = OTSimilarity(iterations=iterations), TripletLoss(MARGIN)
    ids, mask = tf.range(len(batch.regions)), tf.constant(batch.mask)
    variables = [tf.Variable(each) for each in (batch.regions, batch.words)]

    @tf.function
    def step() -> list[tf.Tensor]:
        with tf.GradientTape() as tape:
            value = loss(layer(*variables, word_mask=mask), ids)
        return tape.gradient(value, variables)

    return lambda: step()[0].numpy()


def step_of_torch(batch: Batch, iterations: int) -> Run:
    tensors = [torch.from_numpy(each).requires_grad_() for each in (batch.regions, batch.words)]
    lengths = batch.lengths.tolist()

    def step() -> Array:
        loss = peer.hardest_triplet(peer.per_caption(*tensors, lengths, iterations=iterations), MARGIN)
        return torch.autograd.grad(loss, tensors)[0].numpy()

    return step


def medians(runs: dict[str, Run], rounds: int) -> dict[str, float]:
    """Median seconds, the runs taking turns; the first round compiles. What takes over 4 s has a single one."""
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds + 1):
        for name, run in runs.items():
            if len(seconds[name]) > 1 and seconds[name][-1] > SLOW:
                continue
            start = time.perf_counter()
            run()
            seconds[name].append(time.perf_counter() - start)
    return {name: float(np.median(times[1:])) for name, times in seconds.items()}


def growth(size: int, dimensions: int, rounds: int) -> Iterator[str]:
    settings = [(count, (8, 25), 20) for count in (size // 4, size // 2, size, size * 2)]
    settings += [(size, (8, longest), 20) for longest in (12, 50)] + [(size, (8, 25), count) for count in (5, 50)]
    for count, words, iterations in settings:
        run = ours(draw(count, words, dimensions), iterations)
        yield f"| {count} | {words[0]}–{words[1]} | {iterations} | {medians({'': run}, rounds)['']:.3f} s |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--size", type=int, default=128, help="pictures, and sentences")
    parser.add_argument("--dimensions", type=int, default=256)
    parser.add_argument("--iterations", type=int, default=20)
    parser.add_argument("--quick", action="store_true", help="16 pictures and two rounds, to see that all works")
    args = parser.parse_args()
    size, rounds = (16, 2) if args.quick else (args.size, args.rounds)
    # JAX knows no number of threads, but it sees how many cores the process has.
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: args.threads])
    tf.config.threading.set_intra_op_parallelism_threads(args.threads)
    tf.config.threading.set_inter_op_parallelism_threads(args.threads)
    torch.set_num_threads(args.threads)
    batch = draw(size, (8, 25), args.dimensions)
    described = quality.qualities(batch, args.iterations)
    found = medians({"ours": ours(batch, args.iterations), **peers(batch, args.iterations)}, rounds)
    print("| scores of all pairs | time | of ours | gap | error |\n| --- |" + " ---: |" * 4)
    for name, seconds in found.items():
        print(f"| {name} | {seconds:.3f} s | {seconds / found['ours']:.1f}× | {described[name]} |", flush=True)
    steps = {"ours": step_of_ours, "PyTorch, per caption": step_of_torch}
    found = medians({name: step(batch, args.iterations) for name, step in steps.items()}, rounds)
    print("\n| training step | time | of ours |\n| --- | ---: | ---: |")
    for name, seconds in found.items():
        print(f"| {name} | {seconds:.3f} s | {seconds / found['ours']:.1f}× |", flush=True)
    print("\n| pictures, sentences | words | iterations | our time |\n| ---: | ---: | ---: | ---: |")
    for row in growth(size, args.dimensions, rounds):
        print(row, flush=True)


if __name__ == "__main__":
    main()
