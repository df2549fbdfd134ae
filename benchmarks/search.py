"""Time, memory and recall of searching many vectors: exact, and by the HNSW graph.

    python benchmarks/search.py [--count 1000000] [--size 512]

The vectors are synthetic: unit vectors around centres, a hundred on average around each, as photos of the same things
lie together. Independent directions would be harder for a graph than photos are. Each measurement has a process of its
own; memory is its own, and what it has mapped from files, without what the imports take.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vse_zoo.search import LocalBackend

QUERIES, TOGETHER, K = 100, 10_000, 10
SPREAD = 0.9
"""Length of the noise on a centre, whose length is 1."""


def vectors(count: int, size: int) -> Iterator[NDArray[np.float32]]:
    """Blocks of unit vectors, the same for the same numbers; the last block holds the queries."""
    random = np.random.default_rng(0)
    centres = random.standard_normal((max(10, count // 100), size), dtype=np.float32)
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    for length in (*(min(TOGETHER, count - start) for start in range(0, count, TOGETHER)), QUERIES):
        noise = random.standard_normal((length, size), dtype=np.float32) * (SPREAD / size**0.5)
        block = centres[random.integers(0, len(centres), length)] + noise
        yield block / np.linalg.norm(block, axis=1, keepdims=True)


def fill(folder: Path, count: int, size: int) -> dict[str, float]:
    backend, key, seconds = LocalBackend(folder, (size,)), 1, 0.0
    for block in vectors(count, size):
        if key > count:
            np.save(folder / "queries.npy", block)
            break
        start = time.perf_counter()
        backend.add(np.arange(key, key + len(block)), block)
        seconds += time.perf_counter() - start
        key += len(block)
    return {"seconds": seconds}


def build(folder: Path, count: int, size: int) -> dict[str, float]:
    start, used = time.perf_counter(), time.process_time()
    LocalBackend(folder, (size,), graph_from=1).finish()
    figures = {"seconds": time.perf_counter() - start, "CPU seconds": time.process_time() - used}
    return figures | {"graph MiB": (folder / "graph.usearch").stat().st_size / 2**20} | memory()


def exact(folder: Path, count: int, size: int) -> dict[str, float]:
    backend = LocalBackend(folder, (size,))
    return timed(folder, lambda query: backend.search_exactly(query, K)[0], "exact")


def graph(folder: Path, count: int, size: int) -> dict[str, float]:
    backend = LocalBackend(folder, (size,))
    figures = timed(folder, lambda query: backend.search(query, K)[0], "graph")
    found, true = (np.load(folder / f"{name}.npy") for name in ("graph", "exact"))
    shared = [len(set(a) & set(b)) for a, b in zip(found.tolist(), true.tolist(), strict=True)]
    return figures | {f"recall@{K}": float(np.mean(shared) / K)}


def timed(folder: Path, search: Callable[[NDArray[np.float32]], NDArray[np.int64]], name: str) -> dict[str, float]:
    queries, times, found = np.load(folder / "queries.npy"), [], []
    search(queries[0])  # opens the files
    used = time.process_time()
    for query in queries:
        start = time.perf_counter()
        found.append(search(query))
        times.append(time.perf_counter() - start)
    np.save(folder / f"{name}.npy", found)
    p50, p95 = np.percentile(times, [50, 95]) * 1000
    used = (time.process_time() - used) / len(queries) * 1000
    return {"p50 ms": float(p50), "p95 ms": float(p95), "mean CPU ms": used} | memory()


def memory() -> dict[str, float]:
    return {f"{name} MiB": size - BEFORE[name] for name, size in in_memory().items()}


def in_memory() -> dict[str, float]:
    lines = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return {name: int(lines[key].split()[0]) / 1024 for name, key in (("own", "RssAnon"), ("mapped", "RssFile"))}


BEFORE = in_memory()
STEPS = {"fill": fill, "exact": exact, "build": build, "graph": graph}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--size", type=int, default=512)
    parser.add_argument("--step", choices=STEPS)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    if options.step:
        print(json.dumps(STEPS[options.step](options.folder, options.count, options.size)))
        return
    with tempfile.TemporaryDirectory() as folder:
        for step in STEPS:
            arguments = [sys.executable, __file__, "--step", step, "--folder", folder]
            arguments += ["--count", str(options.count), "--size", str(options.size)]
            output = subprocess.run(arguments, check=True, text=True, stdout=subprocess.PIPE).stdout
            figures = json.loads(output.splitlines()[-1])
            print(f"{step}: " + ", ".join(f"{name} {value:,.3f}" for name, value in figures.items()), flush=True)


if __name__ == "__main__":
    main()
