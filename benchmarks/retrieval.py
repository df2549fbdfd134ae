"""Time and memory of retrieval figures, beside the usual evaluator that sorts every row, in the same run.

    python benchmarks/retrieval.py [--dimensions 1024]

Each measurement has a process of its own, since peak memory is a process's; memory is what comes on top of the
embeddings. The sorting evaluator is the one of most VSE code: one argsort a query, and the true items searched in it.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time

import numpy as np
from numpy.typing import NDArray

from vse_zoo.evaluation.retrieval import evaluate_retrieval

SIZES = ((1_000, 5_000), (5_000, 25_000))


def ours(images: NDArray, texts: NDArray, owners: NDArray) -> list[float]:
    figures = evaluate_retrieval(images, texts, owners)
    return [*figures.i2t.recalls, *figures.t2i.recalls]


def by_sorting(images: NDArray, texts: NDArray, owners: NDArray) -> list[float]:
    i2t = np.empty(len(images))
    t2i = np.empty(len(texts))
    for image in range(len(images)):
        own = np.flatnonzero(owners == image)
        order = np.argsort(images[image] @ texts.T)[::-1]
        i2t[image] = np.flatnonzero(np.isin(order, own))[0]
        for text, scores in zip(own, texts[own] @ images.T, strict=True):
            t2i[text] = np.flatnonzero(np.argsort(scores)[::-1] == image)[0]
    return [100 * float(np.mean(ranks < k)) for ranks in (i2t, t2i) for k in (1, 5, 10)]


def measure(evaluator: str, images: int, texts: int, dimensions: int) -> dict[str, object]:
    random = np.random.default_rng(0)
    owners = np.repeat(np.arange(images), texts // images)
    pictures = random.standard_normal((images, dimensions), dtype=np.float32)
    sentences = random.standard_normal((texts, dimensions), dtype=np.float32)
    sentences *= 12
    for start in range(0, texts, 1_000):
        sentences[start : start + 1_000] += pictures[owners[start : start + 1_000]]
    pictures[:64] @ sentences[:64].T  # starts the BLAS threads
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    figures = {"ours": ours, "by_sorting": by_sorting}[evaluator](pictures, sentences, owners)
    seconds = time.perf_counter() - start
    mebibytes = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    return {"seconds": seconds, "mebibytes": mebibytes, "figures": figures}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dimensions", type=int, default=1024)
    parser.add_argument("--one", nargs=3, metavar=("EVALUATOR", "IMAGES", "TEXTS"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print(json.dumps(measure(args.one[0], int(args.one[1]), int(args.one[2]), args.dimensions)))
        return
    print("| images × captions | ours | memory | sorting | memory | faster | same figures |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | --- |")
    for images, texts in SIZES:
        a, b = (
            json.loads(
                subprocess.run(
                    [
                        sys.executable,
                        __file__,
                        "--dimensions",
                        str(args.dimensions),
                        "--one",
                        name,
                        str(images),
                        str(texts),
                    ],
                    check=True,
                    capture_output=True,
                ).stdout
            )
            for name in ("ours", "by_sorting")
        )
        same = np.allclose(a["figures"], b["figures"], atol=1e-9)
        cells = [f"{x['seconds']:.2f} s | {x['mebibytes']:.0f} MiB" for x in (a, b)]
        print(
            f"| {images:,} × {texts:,} | {' | '.join(cells)} | {b['seconds'] / a['seconds']:.1f}× | {same} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
