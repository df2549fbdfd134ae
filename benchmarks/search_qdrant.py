"""Qdrant's local engine and the package's own backend on the same vectors: filling, opening, searching, memory.

    python benchmarks/search_qdrant.py [--vectors 50000] [--sets 5000]

Single vectors have 512 numbers and sets 9 × 256; a query of sets has 8 vectors. They lie around centres, as in
benchmarks/search.py. Each measurement has a process of its own. Recall is against the package's exact search.
"""

from __future__ import annotations

import argparse
import importlib
import json
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from search import BEFORE, QUERIES, K, in_memory, timed, vectors

from vse_zoo.search import Backend, LocalBackend, QdrantBackend

SHAPES = {"vectors": (512,), "sets": (9, 256)}
WORDS, TOGETHER = 8, 1000
BACKENDS = ("local", "qdrant")


def drawn(form: str, count: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """What is kept, and the queries."""
    shape = SHAPES[form]
    per, words = (1, 1) if form == "vectors" else (shape[0], WORDS)
    rows = np.concatenate(list(vectors(count * per + QUERIES * words, shape[-1])))[:-QUERIES]
    queries = rows[count * per :].reshape(QUERIES, words, shape[-1])
    return rows[: count * per].reshape(count, *shape), queries[:, 0] if form == "vectors" else queries


def opened(name: str, form: str, folder: Path) -> Backend:
    shape = SHAPES[form]
    return LocalBackend(folder / name, shape) if name == "local" else QdrantBackend(folder / name, "photos", shape)


def fill(name: str, form: str, count: int, folder: Path) -> dict[str, float]:
    rows, queries = drawn(form, count)
    np.save(folder / "queries.npy", queries)
    start, used = time.perf_counter(), time.process_time()
    backend = opened(name, form, folder)
    for first in range(0, count, TOGETHER):
        some = rows[first : first + TOGETHER]
        backend.add(np.arange(first + 1, first + 1 + len(some)), some)
    backend.close()
    size = sum(path.stat().st_size for path in (folder / name).rglob("*") if path.is_file())
    figures = {"seconds": time.perf_counter() - start, "CPU seconds": time.process_time() - used}
    return figures | {"disk MiB": size / 2**20}


def search(name: str, form: str, count: int, folder: Path) -> dict[str, float]:
    start = time.perf_counter()
    backend = opened(name, form, folder)
    figures = {"open seconds": time.perf_counter() - start}
    figures |= timed(folder, lambda query: backend.search(query, K)[0], name)
    found, true = (np.load(folder / f"{each}.npy").tolist() for each in (name, "local"))
    return figures | {
        f"recall@{K}": float(np.mean([len(set(a) & set(b)) / K for a, b in zip(found, true, strict=True)]))
    }


STEPS = {"fill": fill, "search": search}


def run(step: str, name: str, form: str, count: int, folder: str) -> dict[str, float]:
    """One step in a process of its own."""
    arguments = [sys.executable, __file__, "--step", step, "--backend", name, "--form", form]
    arguments += [f"--{form}", str(count), "--folder", folder]
    output = subprocess.run(arguments, check=True, text=True, stdout=subprocess.PIPE).stdout
    figures: dict[str, float] = json.loads(output.splitlines()[-1])
    print(f"{form}, {step}, {name}: " + ", ".join(f"{key} {value:,.3f}" for key, value in figures.items()), flush=True)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vectors", type=int, default=50_000)
    parser.add_argument("--sets", type=int, default=5_000)
    for name, choices in (("step", STEPS), ("backend", BACKENDS), ("form", SHAPES)):
        parser.add_argument(f"--{name}", choices=list(choices))
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    if options.step:
        warnings.filterwarnings("ignore", "Local mode is not recommended")
        importlib.import_module("qdrant_client")
        BEFORE.update(in_memory())  # memory is what comes on top of imports
        count = getattr(options, options.form)
        print(json.dumps(STEPS[options.step](options.backend, options.form, count, options.folder)))
        return
    for form in SHAPES:
        with tempfile.TemporaryDirectory() as folder:
            for step in STEPS:
                own, other = (run(step, name, form, getattr(options, form), folder) for name in BACKENDS)
                ratios = {key: other[key] / own[key] for key in own if own[key] > 0}
                print("  qdrant / local: " + ", ".join(f"{key} {value:,.2f}" for key, value in ratios.items()))


if __name__ == "__main__":
    main()
