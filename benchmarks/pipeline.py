"""Is the pipeline ever the model's bottleneck? Batches a second of PairBatches beside the training step, in one run.

    python benchmarks/pipeline.py [--images 6000 --batch-size 128 --units 512 --steps 20]

The data are synthetic: images × 49 regions × 1,280 float16, five captions of 5 to 20 words in two languages.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import keras
import numpy as np

from vse_zoo.data import Dataset, PairBatches, Record, write_dataset
from vse_zoo.models.context_attention import ContextAttentionVSE
from vse_zoo.preprocessing import TextPreprocessor

LANGUAGES = ("en", "de")
REGIONS, DIM, WORDS, CAPTIONS = 49, 1280, 4000, 5


def synthetic(folder: Path, images: int) -> Dataset:
    random = np.random.default_rng(0)

    def caption() -> str:
        return " ".join(f"w{number}" for number in random.zipf(1.3, random.integers(5, 21)) % WORDS)

    records = [
        Record(f"{image}.jpg", "train", {name: [caption() for _ in range(CAPTIONS)] for name in LANGUAGES})
        for image in range(images)
    ]
    source = {"kind": "folder", "root": "."}
    empty = write_dataset(folder / "data", records, name="synthetic", image_source=source, languages=LANGUAGES)
    shape = (images, REGIONS, DIM)
    regions = np.lib.format.open_memmap(folder / "regions.npy", mode="w+", dtype=np.float16, shape=shape)
    for start in range(0, images, 256):
        part = regions[start : start + 256]
        part[:] = random.random(part.shape, dtype=np.float32)
    regions.flush()
    return empty.attach_regions(folder / "regions.npy", None, backbone="synthetic", grid=(7, 7), left_out={})


def seconds_each(batches: Iterator[Any], steps: int, model: keras.Model | None = None) -> float:
    """Mean time of a step, after three that warm up: of a batch alone, or of a batch and its training step."""
    for step in range(steps + 3):
        if step == 3:
            start = time.perf_counter()
        batch = next(batches)
        if model is not None:
            model.train_on_batch(batch)
    return (time.perf_counter() - start) / steps


def cached_seconds(batches: Iterator[Any], steps: int, model: keras.Model) -> float:
    """Mean time of a training step on batches that lie in memory already: the model alone."""
    ready = [next(batches) for _ in range(4)]
    return seconds_each((ready[step % 4] for step in range(steps + 3)), steps, model)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=6000)
    parser.add_argument("--batch-size", type=int, default=128)
    parser.add_argument("--units", type=int, default=512)
    parser.add_argument("--steps", type=int, default=20)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data = synthetic(Path(folder), args.images)
        preprocessor = TextPreprocessor.from_captions({name: data.captions("train", name)[0] for name in LANGUAGES})
        start = time.perf_counter()
        pairs = PairBatches(data, "train", preprocessor.ragged, batch_size=args.batch_size)
        ready = time.perf_counter() - start
        model = ContextAttentionVSE(preprocessor, data.region_dim, units=args.units)
        model.build()
        model.compile(optimizer=keras.optimizers.Adam(1e-3))
        batch = seconds_each(iter(pairs.dataset()), 5 * args.steps)
        step = cached_seconds(iter(pairs.dataset()), args.steps, model)
        both = seconds_each(iter(pairs.dataset()), args.steps, model)
    print(f"ready (all captions tokenised)   {ready:8.2f} s")
    print(f"pipeline alone                   {1 / batch:8.1f} batches/s  ({batch * 1000:.0f} ms a batch)")
    print(f"training step on cached batches  {1 / step:8.1f} steps/s    ({step * 1000:.0f} ms a step)")
    print(f"training step on the pipeline    {1 / both:8.1f} steps/s    ({both * 1000:.0f} ms a step)")
    print(f"the pipeline is {step / batch:.1f} times as fast as the model")


if __name__ == "__main__":
    main()
