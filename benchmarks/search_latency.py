"""How long one question takes: on the page of `vse-zoo serve`, and as a command of its own.

    python benchmarks/search_latency.py INDEX [--questions 100] [--queries 10]

The page is asked one thing after another, first sentences that it hasn't seen, then the same again. A command starts
Python, imports TensorFlow and loads the model; for comparison, as many processes do nothing but import TensorFlow.
Processor time and memory are what the system counted for the processes.
"""

from __future__ import annotations

import argparse
import itertools
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import quote

import numpy as np
from search_page import Client, memory, serving

PARTS = {
    "en": (
        ("a dog", "two girls", "a man in a red shirt", "children", "a woman with a hat"),
        ("runs", "sits", "plays with a ball", "jumps", "is standing"),
        ("on the beach", "in the snow"),
    ),
    "de": (
        ("ein Hund", "zwei Mädchen", "ein Mann in einem roten Hemd", "Kinder", "eine Frau mit Hut"),
        ("rennt", "sitzt", "spielt mit einem Ball", "springt", "steht"),
        ("am Strand", "im Schnee"),
    ),
}
SENTENCES = [
    " ".join(each) for pair in zip(*(itertools.product(*p) for p in PARTS.values()), strict=True) for each in pair
]


class Run(NamedTuple):
    """Seconds, seconds of a processor, and MiB at most of a process."""

    took: float
    computed: float
    memory: float


def run(command: Sequence[str]) -> Run:
    began = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{' '.join(command)} failed; run it to see why")
    process.returncode = 0
    return Run(time.monotonic() - began, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def show(name: str, times: Sequence[float], unit: str, digits: int, more: str = "") -> None:
    middle, most = np.percentile(times, [50, 95])
    print(f"{name:32} p50 {middle:8.{digits}f} {unit}  p95 {most:8.{digits}f} {unit}{more}", flush=True)


def page(index: str, questions: int) -> None:
    sentences = list(itertools.islice(itertools.cycle(SENTENCES), questions))
    with serving(index) as (server, address):
        for name in ("page, new questions", "page, the same again"):
            client = Client(address, 0, 0, [])
            for sentence in sentences:
                client.ask("search", "GET", f"/api/search?k=30&q={quote(sentence)}")
            if any(status != 200 for _, status, _ in client.answers):
                sys.exit("a question was refused")
            show(name, [1000 * took for _, _, took in client.answers], "ms", 1)
        print(f"memory of the server: {memory(server, 'VmHWM'):.0f} MiB at most")


def commands(index: str, queries: int) -> None:
    program = [sys.executable, "-c", "from vse_zoo.cli import run; run()", "search", index]
    sentences = itertools.islice(itertools.cycle(SENTENCES), queries)
    kinds = {
        "vse-zoo search": [run([*program, sentence]) for sentence in sentences],
        "import tensorflow": [run([sys.executable, "-c", "import tensorflow"]) for _ in range(queries)],
    }
    for name, runs in kinds.items():
        more = f"  processor {np.median([each.computed for each in runs]):.1f} s"
        more += f"  memory {max(each.memory for each in runs):.0f} MiB"
        show(name, [each.took for each in runs], "s", 2, more)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index")
    parser.add_argument("--questions", type=int, default=100, help="for the page; from 101 on they repeat")
    parser.add_argument("--queries", type=int, default=10, help="commands that are started")
    options = parser.parse_args()
    page(options.index, options.questions)
    commands(options.index, options.queries)


if __name__ == "__main__":
    main()
