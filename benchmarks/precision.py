"""Training steps in float32, bfloat16, float16 and under XLA, of the three models, in one run.

    python benchmarks/precision.py [--models context_attention two_way_net] [--threads 2 --rounds 5 --steps 4]

Random batches of 64 pictures with 9 regions of 1,280 numbers, and sentences of 8, 12, 16 and 20 words in turn; for
two_way_net MNIST's sizes and batches of 128. Rounds of steps alternate between the variants, and the median round
counts. "first" are the seconds until the first step is done, "each length" those that a further length of sentences
costs the first time it comes: a new program under XLA. What can't be compiled is said. Needs idle cores, or a GPU.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from vse_zoo.models import ContextAttentionVSE, TransportVSE, TwoWayNet
from vse_zoo.preprocessing import TextPreprocessor
from vse_zoo.training.configs.precision import PrecisionTrainConfig

BATCH, REGIONS, DIM, WORDS = 64, 9, 1280, 2000
LENGTHS = (8, 12, 16, 20)
VARIANTS = {
    "float32": ("float32", False),
    "bfloat16": ("mixed_bfloat16", False),
    "float16": ("mixed_float16", False),
    "XLA": ("float32", True),
}


def pictures() -> list[dict[str, Any]]:
    """A batch of each length."""
    random = np.random.default_rng(0)
    return [
        {
            "regions": random.normal(size=(BATCH, REGIONS, DIM)).astype("float32"),
            "region_mask": np.ones((BATCH, REGIONS), bool),
            "text": {"en": random.integers(1, WORDS, (BATCH, length)).astype("int32")},
            "text_mask": {"en": np.ones(BATCH, bool)},
            "image_id": np.arange(BATCH, dtype="int32"),
        }
        for length in LENGTHS
    ]


def matrices() -> list[dict[str, Any]]:
    random = np.random.default_rng(0)
    return [{name: random.normal(size=(128, 392)).astype("float32") for name in "xy"}] * len(LENGTHS)


def context_attention() -> keras.Model:
    return ContextAttentionVSE(preprocessor(), DIM, units=256, attention_dim=64)


def optimal_transport() -> keras.Model:
    return TransportVSE(preprocessor(), DIM, units=256)


def two_way_net() -> keras.Model:
    return TwoWayNet((392, 50, 392), 392, 392)


def preprocessor() -> TextPreprocessor:
    return TextPreprocessor({"en": [f"word{number}" for number in range(WORDS)]})


MODELS = {
    "context_attention": (context_attention, pictures),
    "optimal_transport": (optimal_transport, pictures),
    "two_way_net": (two_way_net, matrices),
}


def compiled(name: str, precision: str, jit: bool) -> keras.Model:
    keras.utils.set_random_seed(0)
    with PrecisionTrainConfig(precision=precision).policy():
        model = MODELS[name][0]()
        model.build()
    model.compile(keras.optimizers.AdamW(1e-3, global_clipnorm=2.0), jit_compile=jit)
    return model


def seconds_of(model: keras.Model, batches: list[dict[str, Any]]) -> float:
    start = time.perf_counter()
    for batch in batches:
        model.train_on_batch(batch)
    return time.perf_counter() - start


def measure(name: str, args: argparse.Namespace) -> None:
    """Prints a row for each variant."""
    batches = MODELS[name][1]()
    models, first, rounds = {}, {}, {}
    for variant in args.variants:
        model = compiled(name, *VARIANTS[variant])
        try:
            first[variant] = [seconds_of(model, [batch]) for batch in batches]
        except (tf.errors.InvalidArgumentError, tf.errors.UnimplementedError, ValueError) as error:
            print(f"| {name} | {variant} | can't be compiled: {str(error).splitlines()[0][:150]} |", flush=True)
            continue
        models[variant], rounds[variant] = model, []
    turns = [batches[step % len(batches)] for step in range(args.steps)]
    for _ in range(args.rounds):
        for variant, model in models.items():
            rounds[variant].append(seconds_of(model, turns))
    rates = {variant: args.steps / np.median(times) for variant, times in rounds.items()}
    for variant, rate in rates.items():
        start, *others = first[variant]
        more = np.mean(others) - 1 / rate
        ratio = f"{rate / rates['float32']:.2f}×" if "float32" in rates else "–"
        print(f"| {name} | {variant} | {rate:.2f} | {ratio} | {start:.1f} s | {max(0.0, more):.1f} s |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--variants", nargs="+", choices=VARIANTS, default=list(VARIANTS))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=4, help="a round; a multiple of 4 takes each length alike")
    args = parser.parse_args()
    tf.config.threading.set_intra_op_parallelism_threads(args.threads)
    tf.config.threading.set_inter_op_parallelism_threads(args.threads)
    print("| model | variant | steps/s | speed | first | each length |\n| --- | --- |" + " ---: |" * 4, flush=True)
    for name in args.models:
        measure(name, args)


if __name__ == "__main__":
    main()
