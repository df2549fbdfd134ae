"""What two halves of a digit share: our models beside linear CCA and cca-zoo's deep CCA, trained here, in one run.

    python benchmarks/mnist_correlation.py [--mnist mnist.npz] [--large] [MODEL ...]

A MODEL is a built-in name, a preset folder or a run of a TwoWayNet on MNIST halves. Canonical sums are those of linear
CCA between the two 50-d representations, fitted on the 55,000 training digits and measured on others; neuron sum and
effective rank are those of the test digits. Deep CCA does not pair its neurons, so its neuron sum says nothing; its
canonical sum is what it maximises. The peers need ``torch``, ``lightning`` and ``cca-zoo>=4``.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from peers import dcca

import vse_zoo
from vse_zoo.data.sources.mnist_halves import read_mnist_halves
from vse_zoo.metrics import CanonicalCorrelation, EffectiveRank, NeuronCorrelation, PrincipalDirections

Views = tuple[NDArray[np.float32], NDArray[np.float32]]
Encode = Callable[[Views], Views]


def canonical_sum(fitted: Views, measured: Views) -> float:
    metric = CanonicalCorrelation()
    metric.fit_state(*fitted)
    metric.update_state(*measured)
    return float(metric.result())


def mean_over_views(metric: type, views: Views) -> float:
    total = 0.0
    for view in views:
        one = metric()
        one.update_state(view)
        total += float(one.result()) / 2
    return total


def row(name: str, encode: Encode, splits: Mapping[str, Views], seconds: float | None) -> None:
    train, dev, test = (encode(splits[split]) for split in ("train", "dev", "test"))
    neurons = NeuronCorrelation()
    neurons.update_state(*test)
    figures = [canonical_sum(train, dev), canonical_sum(train, test), float(neurons.result())]
    figures += [mean_over_views(metric, test) for metric in (EffectiveRank, PrincipalDirections)]
    cells = [name, *(f"{figure:.2f}" for figure in figures), "" if seconds is None else f"{seconds:.0f} s"]
    print(f"| {' | '.join(cells)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="MODEL")
    parser.add_argument("--mnist", type=Path, help="mnist.npz; by default Keras downloads it")
    parser.add_argument("--large", action="store_true", help="also deep CCA with two hidden layers of 1,024")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    splits = read_mnist_halves(args.mnist).splits
    columns = ("canonical sum, dev", "canonical sum, test", "neuron sum", "effective rank", "for 90%", "training")
    print(f"| model | {' | '.join(columns)} |\n| --- |{' ---: |' * len(columns)}", flush=True)
    linear = dcca.linear(splits["train"])
    row("linear CCA on the pixels, 50 directions", linear.encode, splits, linear.seconds)
    for settings in (dcca.SMALL, dcca.LARGE)[: 1 + args.large]:
        deep = dcca.train(splits["train"], replace(settings, seed=args.seed))
        row(f"deep CCA 392–{'–'.join(map(str, settings.layer_sizes))}", deep.encode, splits, deep.seconds)
    for name in args.models:
        model = vse_zoo.load(name)
        row(name, lambda views, model=model: (model.encode_x(views[0]), model.encode_y(views[1])), splits, None)


if __name__ == "__main__":
    main()
