"""The commands of region features, for `vse_zoo.cli`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from vse_zoo.data import Dataset
from vse_zoo.errors import ConfigError
from vse_zoo.features import backbones
from vse_zoo.workflow.features import add_features, add_views, attach_precomputed
from vse_zoo.workflow.next_steps import training_commands

__all__ = ["add_commands", "parse_grid"]

_FORMATS = "bottom-up-attention .tsv or a folder of its parts, a folder of .npz, .h5; .npy, .npz or .mat of one array"
Precomputed = Annotated[Path | None, typer.Option(help=f"Instead of extracting: {_FORMATS}.")]
Fields = Annotated[
    str | None, typer.Option(help="Columns of a .tsv without a header, such as image_id,image_h,image_w,num_boxes,…")
]
Half = Annotated[bool, typer.Option("--half", help="Store --precomputed as float16, which halves the size.")]


def add_commands(app: typer.Typer) -> None:
    """Adds ``features`` and ``views``."""
    app.command()(features)
    app.command()(views)


def _say(text: str) -> None:
    """Prints a line as it is: a path or command that is broken in two can't be copied."""
    Console().print(text, highlight=False, markup=False, soft_wrap=True)


def _note(remark: str) -> None:
    _say(f"- {remark}")


def features(
    data: Annotated[Path, typer.Argument(help="Dataset folder.")],
    backbone: Annotated[
        str,
        typer.Option(
            help="efficientnet_lite0, keras:<application>, with /<layer> or not, or kerashub:<preset or folder>."
        ),
    ] = backbones.BUILT_IN,
    grid: Annotated[
        str | None, typer.Option(help="Regions as rows x columns over the picture; 7x7, or 1x1 of a vector.")
    ] = None,
    weights: Annotated[
        str, typer.Option(help="For keras: backbones: imagenet (Keras downloads them) or a weights file.")
    ] = backbones.IMAGENET,
    batch_size: Annotated[int, typer.Option(help="Images a step.")] = 32,
    strict: Annotated[bool, typer.Option("--strict", help="An unreadable image is an error.")] = False,
    precomputed: Precomputed = None,
    names: Annotated[
        Path | None, typer.Option(help="Text file, line n names the image of row n of --precomputed.")
    ] = None,
    key: Annotated[str | None, typer.Option(help="Array in --precomputed, where it holds several.")] = None,
    fields: Fields = None,
    boxes: Annotated[bool, typer.Option("--boxes/--no-boxes", help="Take the boxes of --precomputed too.")] = True,
    half: Half = False,
) -> None:
    """Extract region features; resumes after an interruption. Example: vse-zoo features data/mine --grid 7x7"""
    dataset = Dataset.open(data)
    extracting = (backbone, grid, weights) != (backbones.BUILT_IN, None, backbones.IMAGENET)
    copying = names or key or fields or half or not boxes
    if (extracting and precomputed) or (copying and not precomputed):
        own = "--names, --key, --fields, --no-boxes and --half belong to --precomputed"
        raise ConfigError(f"{own}, --backbone, --grid and --weights to extraction: found both.")
    if precomputed:
        options: dict[str, Any] = {"names": names, "key": key, "boxes": boxes, "half": half, "strict": strict}
        columns = [field.strip() for field in fields.split(",")] if fields else None
        dataset = attach_precomputed(
            dataset, precomputed, fields=columns, note=lambda remark: _say(f"- {remark}"), **options
        )
    else:
        network = backbones.get(backbone, parse_grid(grid) if grid else None, weights)
        dataset = add_features(dataset, network, batch_size=batch_size, strict=strict)
    for image, reason in dataset.left_out.items():
        _note(f"left out {image}: {reason}")
    _say(f"{len(dataset) - len(dataset.left_out):,} images have regions of {dataset.region_dim} numbers.")
    first, *others = training_commands(dataset, data)
    _say("\n   or ".join([f"Next: {first}", *others]))


def views(
    data: Annotated[Path, typer.Argument(help="Dataset folder with pictures and features of vse-zoo features.")],
    count: Annotated[int, typer.Option(min=1, help="Views of each training picture.")] = 3,
    weights: Annotated[
        str, typer.Option(help="Those given to vse-zoo features, where the backbone is a keras: one.")
    ] = backbones.IMAGENET,
    batch_size: Annotated[int, typer.Option(help="Pictures a step.")] = 32,
) -> None:
    """Features of mirrored and cropped training pictures, for [train] views. Example: vse-zoo views data/mine"""
    dataset = add_views(Dataset.open(data), count, weights=weights, batch_size=batch_size)
    _say(f"{count} views of each of {len(dataset.indices('train')):,} training pictures.")
    _say("Next: train with a configuration that says views = true in [train].")


def parse_grid(text: str) -> tuple[int, int]:
    """(rows, columns) of an option such as 7x7; a `ConfigError` for anything else."""
    rows, _, columns = text.partition("x")
    if not (rows.isdigit() and columns.isdigit()):
        raise ConfigError(f"--grid: found {text!r}, expected rows x columns, such as 7x7.")
    return int(rows), int(columns)
