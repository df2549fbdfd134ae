"""Does a SCAN-style folder of COCO's size prepare, open and train within 4 GiB? Seconds and peak memory of each step.

    python benchmarks/scan_folder.py [--images 113287 --steps 200 --batch-size 128 --units 64]

train_ims.npy is a sparse file of zeros, 36 × 2,048 float16 an image; dev and test hold random numbers, every image in
five rows. Preparing and training have a process of their own, since peak memory is a process's: VmHWM, which counts
mapped file pages too, beside the largest RssAnon seen, which doesn't.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

REGIONS, DIM, WORDS, CAPTIONS, HELD_OUT = 36, 2048, 12_000, 5, 100


def make_folder(folder: Path, images: int) -> None:
    """The raw folder, captions of 5 to 20 words."""
    random = np.random.default_rng(0)
    folder.mkdir()
    for split, count in {"train": images, "dev": HELD_OUT, "test": HELD_OUT}.items():
        words = [f"w{number}" for number in random.zipf(1.3, 25 * 10**5) % WORDS]
        starts, lengths = (
            random.integers(0, len(words) - 20, CAPTIONS * count),
            random.integers(5, 21, CAPTIONS * count),
        )
        captions = (" ".join(words[s : s + n]) for s, n in zip(starts.tolist(), lengths.tolist(), strict=True))
        (folder / f"{split}_caps.txt").write_text("".join(f"{caption}\n" for caption in captions))
        if split != "train":
            rows = random.random((count, REGIONS, DIM), dtype=np.float32).astype(np.float16)
            np.save(folder / f"{split}_ims.npy", np.repeat(rows, CAPTIONS, axis=0))
    with (folder / "train_ims.npy").open("wb") as file:
        header = {"descr": "<f2", "fortran_order": False, "shape": (images, REGIONS, DIM)}
        np.lib.format.write_array_header_1_0(file, header)
        file.truncate(file.tell() + images * REGIONS * DIM * 2)


def memory() -> dict[str, float]:
    """Peak memory and present anonymous memory of this process, in GiB."""
    fields = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return {name: int(fields[name].split()[0]) / 2**20 for name in ("VmHWM", "RssAnon")}


def prepare(folder: Path) -> dict[str, Any]:
    from vse_zoo.data.sources.scan import read_scan

    start = time.perf_counter()
    read_scan(folder / "raw").write(folder / "data")
    written = sum(path.stat().st_size for path in (folder / "data").iterdir())
    return {"prepared": time.perf_counter() - start, "written": written / 2**20, **memory()}


def train(folder: Path, steps: int, batch_size: int, units: int) -> dict[str, Any]:
    import keras

    from vse_zoo.data import Dataset, PairBatches
    from vse_zoo.models.optimal_transport import TransportVSE
    from vse_zoo.preprocessing import TextPreprocessor

    found: dict[str, Any] = {"imported": memory()}
    start = time.perf_counter()

    def note(what: str) -> None:
        found[what] = {"seconds": time.perf_counter() - start, **memory()}

    data = Dataset.open(folder / "data")
    note("opened")
    _ = data.records
    note("captions read")
    preprocessor = TextPreprocessor.from_captions({"en": data.captions("train", "en")[0]})
    note("vocabulary built")
    pairs = PairBatches(data, "train", preprocessor.ragged, batch_size=batch_size)
    note("captions tokenised")
    model = TransportVSE(preprocessor, data.region_dim, units=units)
    model.build()
    model.compile(optimizer=keras.optimizers.Adam(1e-3))
    anonymous = []
    watch = keras.callbacks.LambdaCallback(on_train_batch_end=lambda *_, **__: anonymous.append(memory()["RssAnon"]))
    model.fit(pairs.dataset(), steps_per_epoch=steps, epochs=1, verbose=0, callbacks=[watch])
    note(f"{steps} steps trained")
    found[f"{steps} steps trained"]["RssAnon"] = max(anonymous)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=113_287)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--batch-size", type=int, default=128)
    parser.add_argument("--units", type=int, default=64)
    parser.add_argument("--only", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.only == "prepare":
        print(json.dumps(prepare(args.folder)))
    elif args.only == "train":
        print(json.dumps(train(args.folder, args.steps, args.batch_size, args.units)))
    else:
        with tempfile.TemporaryDirectory() as folder:
            make_folder(Path(folder, "raw"), args.images)
            for part in ("prepare", "train"):
                command = [sys.executable, *sys.argv, "--only", part, "--folder", folder]
                done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
                for name, value in json.loads(done.stdout.splitlines()[-1]).items():
                    print(f"{name:20}", json.dumps(value))


if __name__ == "__main__":
    main()
