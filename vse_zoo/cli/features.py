"""The commands that compute region features, or take those of another program."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from vse_zoo.cli import completion
from vse_zoo.cli.console import note, parse_grid, say
from vse_zoo.errors import ConfigError
from vse_zoo.features.backbone_names import BUILT_IN, IMAGENET

__all__ = ["features", "views"]

_FORMATS = "bottom-up-attention .tsv or a folder of its parts, a folder of .npz, .h5; .npy, .npz or .mat of one array"
Precomputed = Annotated[Path | None, typer.Option(help=f"Instead of extracting: {_FORMATS}.")]
Fields = Annotated[
    str | None, typer.Option(help="Columns of a .tsv without a header, such as image_id,image_h,image_w,num_boxes,…")
]
Half = Annotated[bool, typer.Option("--half", help="Store --precomputed as float16, which halves the size.")]


def features(
    data: Annotated[Path, typer.Argument(help="Dataset folder.")],
    backbone: Annotated[
        str,
        typer.Option(
            help=f"{BUILT_IN}, keras:<application>, with /<layer> or not, or kerashub:<preset or folder>.",
            autocompletion=completion.backbones,
        ),
    ] = BUILT_IN,
    grid: Annotated[
        str | None, typer.Option(help="Regions as rows x columns over the picture; 7x7, or 1x1 of a vector.")
    ] = None,
    weights: Annotated[
        str, typer.Option(help="For keras: backbones: imagenet (Keras downloads them) or a weights file.")
    ] = IMAGENET,
    batch_size: Annotated[int, typer.Option(help="Images a step.")] = 32,
    strict: Annotated[bool, typer.Option("--strict", help="An unreadable image is an error.")] = False,
    precomputed: Precomputed = None,
    names: Annotated[
        Path | None, typer.Option(help="Text file, line n names the image of row n of --precomputed.")
    ] = None,
    key: Annotated[str | None, typer.Option(help="Array in --precomputed, where it holds several.")] = None,
    fields: Fields = None,
    encoding: Annotated[
        str | None, typer.Option(help="Encoding of --names, where it isn't UTF-8 and has no byte-order mark.")
    ] = None,
    boxes: Annotated[bool, typer.Option("--boxes/--no-boxes", help="Take the boxes of --precomputed too.")] = True,
    half: Half = False,
) -> None:
    """Extract region features; resumes after an interruption. Example: vse-zoo features data/mine --grid 7x7"""
    from vse_zoo.data import Dataset

    dataset = Dataset.open(data)
    regions = parse_grid(grid)
    extracting = (backbone, grid, weights) != (BUILT_IN, None, IMAGENET)
    copying = names or key or fields or encoding or half or not boxes
    if (extracting and precomputed) or (copying and not precomputed):
        own = "--names, --key, --fields, --encoding, --no-boxes and --half belong to --precomputed"
        raise ConfigError(f"{own}, --backbone, --grid and --weights to extraction: found both.")
    if precomputed:
        options: dict[str, Any] = {"names": names, "key": key, "encoding": encoding, "boxes": boxes, "half": half}
        dataset = _attach(dataset, precomputed, fields, {**options, "strict": strict})
    else:
        dataset = _extract(dataset, backbone, regions, weights, batch_size, strict)
    _report(dataset, data)


def _attach(dataset: Any, precomputed: Path, fields: str | None, options: dict[str, Any]) -> Any:
    from vse_zoo.workflow.features import attach_precomputed

    columns = [field.strip() for field in fields.split(",")] if fields else None
    return attach_precomputed(dataset, precomputed, fields=columns, note=note, **options)


def _extract(
    dataset: Any, backbone: str, grid: tuple[int, int] | None, weights: str, batch_size: int, strict: bool
) -> Any:
    from vse_zoo.features import backbones
    from vse_zoo.workflow.features import add_features

    return add_features(dataset, backbones.get(backbone, grid, weights), batch_size=batch_size, strict=strict)


def _report(dataset: Any, data: Path) -> None:
    """Says what was left out, what is there, and what to run next."""
    from vse_zoo.workflow.next_steps import training_commands

    for image, reason in dataset.left_out.items():
        note(f"left out {image}: {reason}")
    say(f"{len(dataset) - len(dataset.left_out):,} images have regions of {dataset.region_dim} numbers.")
    first, *others = training_commands(dataset, data)
    say("\n   or ".join([f"Next: {first}", *others]))


def views(
    data: Annotated[Path, typer.Argument(help="Dataset folder with pictures and features of vse-zoo features.")],
    count: Annotated[int, typer.Option(min=1, help="Views of each training picture.")] = 3,
    weights: Annotated[
        str, typer.Option(help="Those given to vse-zoo features, where the backbone is a keras: one.")
    ] = IMAGENET,
    batch_size: Annotated[int, typer.Option(help="Pictures a step.")] = 32,
) -> None:
    """Features of mirrored and cropped training pictures, for [train] views. Example: vse-zoo views data/mine"""
    from vse_zoo.data import Dataset
    from vse_zoo.workflow.features import add_views

    dataset = add_views(Dataset.open(data), count, weights=weights, batch_size=batch_size)
    say(f"{count} views of each of {len(dataset.indices('train')):,} training pictures.")
    say("Next: train with a configuration that says views = true in [train].")
