"""Exact ranking by limits beside the whole score matrix: pairs solved, time, and whether the results are the same.

    python benchmarks/transport_ranking.py RUN DATA [--split test] [--language en]
    python benchmarks/transport_ranking.py --synthetic [--images 1000]

At the run's own λ and at λ=1.5 on the mean form: ranks of all true items in both directions (for R@K, median and mean),
and the exact ten best captions of every picture and pictures of every caption. The whole matrix is computed by
`vse_zoo.ops.set_scores` with feasible plans. Its scores and ours come from differently blocked sums and differ in the
last bits, so lists may differ where scores are that near; how many do is counted. CPU time is of all threads.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vse_zoo import presets
from vse_zoo.data import Dataset
from vse_zoo.evaluation import embed_captions, embed_images, evaluate_scores
from vse_zoo.evaluation.retrieval import RetrievalFigures
from vse_zoo.ops import set_scores
from vse_zoo.ranking import TransportScorer, TrueRanks, top_k, true_ranks
from vse_zoo.sets import ItemSets

Settings = dict[str, Any]
RELEASED: Settings = {"weight": 1.5, "direction": "text_image", "reduction": "mean"}


def synthetic(images: int, size: int = 256) -> tuple[ItemSets, ItemSets, NDArray[np.int64], Settings]:
    """Pictures of 8 objects in 36 regions; captions of 8 to 16 words, a fifth of which name one of them."""
    random = np.random.default_rng(0)

    def unit(vectors: NDArray) -> NDArray:
        return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)

    concepts, others, base = (unit(random.standard_normal((n, size))) for n in (400, 15, 1))
    popular = 1 / (np.arange(400) + 10)
    objects = random.choice(400, (images, 8), p=popular / popular.sum())
    topics = 0.6 * unit(random.standard_normal((images, size)))
    noise = 1.5 / size**0.5
    seen = objects[np.arange(images)[:, None], random.integers(0, 8, (images, 36))]
    regions = concepts[seen] + topics[:, None] + 0.5 * base + noise * random.standard_normal((images, 36, size))
    owners = np.repeat(np.arange(images), 5)
    named = concepts[objects[owners[:, None], random.integers(0, 8, (len(owners), 16))]]
    rest = others[random.integers(0, 15, (len(owners), 16))]
    words = np.where(random.random((len(owners), 16, 1)) < 0.2, named, rest) + 0.3 * base
    words += noise * random.standard_normal(words.shape)
    mask = np.arange(16) < random.integers(8, 17, len(owners))[:, None]
    words += 0.6 * unit((words * mask[..., None]).sum(axis=1))[:, None] + 0.15 * topics[owners][:, None]
    pictures = ItemSets.of(np.float32(unit(regions)), np.ones((images, 36), bool))
    return pictures, ItemSets.of(np.float32(unit(words)), mask), owners, {**RELEASED, "weight": 0.1}


def of_run(run: Path, data: Path, split: str, language: str) -> tuple[ItemSets, ItemSets, NDArray[np.int64], Settings]:
    """What a trained model makes of a split, and its own λ and form."""
    model: Any = presets.load(run)
    dataset = Dataset.open(data)
    texts, rows = dataset.captions(split, language)
    searched, owners = np.unique(rows, return_inverse=True)
    images, sentences = embed_images(model, dataset, searched), embed_captions(model, texts, language)
    assert isinstance(images, ItemSets)
    assert isinstance(sentences, ItemSets)
    direction, reduction, weight = model.ranker(images[:1], sentences[:1]).form
    return images, sentences, owners, {"weight": weight, "direction": direction, "reduction": reduction}


def timed(function: Callable[[], Any]) -> tuple[Any, str]:
    wall, processor = time.perf_counter(), time.process_time()
    found = function()
    return found, f"{time.perf_counter() - wall:.1f} s | {time.process_time() - processor:.1f} s"


def whole(images: ItemSets, texts: ItemSets, settings: Settings) -> NDArray[np.float32]:
    """The score matrix (N, M)."""
    by_word = settings["direction"] == "text_image"
    parts, words = [], texts.padded()
    width = int(images.counts.max())  # of all, as the solver is compiled for it
    for start in range(0, len(images), 128):
        some = images[start : start + 128]
        found = set_scores(*some.padded(width), *words, by_word=by_word, feasible=True)
        counts = texts.counts[None] if by_word else some.counts[:, None]
        best = found.best.numpy() / (counts if settings["reduction"] == "mean" else 1)
        parts.append(best + settings["weight"] * found.transport.numpy())
    return np.concatenate(parts).astype(np.float32)


def figures_of(ranks: TrueRanks) -> list[float]:
    return [100 * float(np.mean(side <= k)) for side in (ranks.rows, ranks.columns) for k in (1, 5, 10)]


def recalls(figures: RetrievalFigures) -> list[float]:
    return [*figures.i2t.recalls, *figures.t2i.recalls]


def differing(scores: NDArray[np.float32], indices: NDArray[np.int64]) -> str:
    """How many lists differ from a stable sort, and the largest difference of the scores at the same place."""
    expected = np.argsort(-scores, axis=1, kind="stable")[:, : indices.shape[1]]
    lists = np.count_nonzero((expected != indices).any(axis=1))
    gap = np.abs(np.take_along_axis(scores, expected, 1) - np.take_along_axis(scores, indices, 1)).max()
    return f"{lists} of {len(indices)} lists differ, by scores {gap:.0e} apart"


def measure(images: ItemSets, texts: ItemSets, owners: NDArray[np.int64], settings: Settings) -> None:
    def scorer() -> TransportScorer:
        return TransportScorer(images, texts, **settings)

    pairs = len(images) * len(texts)
    few = images[:16]
    true_ranks(TransportScorer(few, texts, **settings), np.arange(len(texts)) % 16)  # compiles everything
    whole(few, texts, settings)
    print(f"\n{settings}\n\n| | solved | wall | CPU | against the whole matrix |\n| --- | ---: | ---: | ---: | --- |")
    matrix, spent = timed(lambda: whole(images, texts, settings))
    print(f"| whole matrix | 100% | {spent} | |", flush=True)
    expected = recalls(evaluate_scores(lambda i, t: matrix[np.ix_(i, t)], owners, len(images)))
    ranks, spent = timed(lambda: true_ranks(scorer(), owners))
    same = f"R@1/5/10 {[round(x, 2) for x in figures_of(ranks)]}, same: {np.allclose(figures_of(ranks), expected)}"
    print(f"| ranks, both directions | {100 * ranks.solves / pairs:.2f}% | {spent} | {same} |", flush=True)
    for query, scores in (("row", matrix), ("column", matrix.T)):
        found, spent = timed(lambda q=query: top_k(scorer(), 10, query=q))
        print(f"| ten best of every {query} | {100 * found.solves / pairs:.2f}% | {spent} | ", end="")
        print(f"{differing(scores, found.indices)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", nargs="?", type=Path)
    parser.add_argument("data", nargs="?", type=Path)
    parser.add_argument("--split", default="test")
    parser.add_argument("--language", default="en")
    parser.add_argument("--synthetic", action="store_true")
    parser.add_argument("--images", type=int, default=1_000, help="of the synthetic set, with five captions each")
    args = parser.parse_args()
    if not args.synthetic and args.data is None:
        parser.error("pass RUN and DATA, or --synthetic")
    given = synthetic(args.images) if args.synthetic else of_run(args.run, args.data, args.split, args.language)
    *sets, own = given
    for settings in (own, RELEASED):
        measure(*sets, settings)


if __name__ == "__main__":
    main()
