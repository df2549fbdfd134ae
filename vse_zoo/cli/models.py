"""The commands that train, judge, show and export models."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from vse_zoo.cli import completion
from vse_zoo.cli.console import note, parse_grid, say, show
from vse_zoo.files import write_json
from vse_zoo.registry import recipe_names

__all__ = ["evaluate", "explain", "export", "ground", "models", "quickstart", "report", "train"]

Model = Annotated[
    str, typer.Argument(help="Run folder, preset folder or built-in name.", autocompletion=completion.models)
]
Json = Annotated[Path | None, typer.Option("--json", help="Also write the figures there.")]


def train(
    recipe: Annotated[
        str,
        typer.Argument(help=f"Name of a recipe: {', '.join(recipe_names())}.", autocompletion=completion.recipes),
    ],
    data: Annotated[Path, typer.Option(help="Dataset folder with region features, or two-view folder.")],
    out: Annotated[Path, typer.Option(help="Run folder to make.")],
    config: Annotated[
        str | None,
        typer.Option(
            help="Name of one of the recipe's configurations, or a TOML file.",
            autocompletion=completion.configurations,
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Instead of the configuration's seed.")] = None,
    epochs: Annotated[int | None, typer.Option(help="Instead of the configuration's number of epochs.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the run in --out.")] = False,
    strategy: Annotated[
        str, typer.Option(help="none, mirrored (this machine's GPUs) or multi_worker (several machines).")
    ] = "none",
) -> None:
    """Train a model. Example: vse-zoo train context_attention --data data/mine --out runs/first --config flickr8k"""
    from vse_zoo.workflow.train import train as run_recipe

    options: dict[str, Any] = {"config": config, "seed": seed, "epochs": epochs, "resume": resume}
    run_recipe(recipe, data, out, **options, strategy=strategy)


def evaluate(
    model: Model,
    data: Annotated[Path | None, typer.Option(help="Dataset folder with features, or two-view folder.")] = None,
    split: Annotated[str, typer.Option(help="Split to evaluate on.")] = "test",
    folds: Annotated[int, typer.Option(help="5 gives the mean of five folds, COCO's 1K figures.")] = 1,
    protocol: Annotated[
        str | None, typer.Option(help="coco: both the 5K figures and the 1K ones, of 5,000 images.")
    ] = None,
    between: Annotated[
        str | None, typer.Option(help="Languages, such as en,de: sentences of one search those of another.")
    ] = None,
    sts: Annotated[
        Path | None, typer.Option(help="Instead of --data: folder of SemEval STS files, or of its years.")
    ] = None,
    language: Annotated[str | None, typer.Option(help="The language of --sts; en by default.")] = None,
    encoding: Annotated[
        str | None, typer.Option(help="Encoding of --sts, where it isn't UTF-8 and has no byte-order mark.")
    ] = None,
    json_file: Json = None,
) -> None:
    """Figures of retrieval, of two views, of similarity. Example: vse-zoo evaluate runs/first --data data/mine"""
    from vse_zoo import presets
    from vse_zoo.workflow.evaluation import evaluate_model

    options: dict[str, Any] = {"between": between, "sts": sts, "language": language, "encoding": encoding}
    found = evaluate_model(presets.load(model), model, data, split, folds, protocol, **options)
    show(found.table)
    if json_file is not None:
        write_json(json_file, found.values)


def ground(
    model: Model,
    data: Annotated[Path, typer.Option(help="Dataset folder with region features, boxes and phrases.")],
    split: Annotated[str, typer.Option(help="Split to evaluate on.")] = "test",
    boxes: Annotated[str, typer.Option(help="Of a phrase's boxes a region must match any, or their union.")] = "any",
    json_file: Json = None,
) -> None:
    """How well phrases are found in the pictures. Example: vse-zoo ground runs/first --data data/scenes"""
    from vse_zoo import presets
    from vse_zoo.workflow.grounding import ground_folder

    found = ground_folder(presets.load(model), model, data, split, boxes)
    show(found.table)
    if json_file is not None:
        write_json(json_file, found.values)


def explain(
    model: Model,
    image: Annotated[str, typer.Option(help="Picture file; with --data, the name of one of its images.")],
    caption: Annotated[str, typer.Option(help="A sentence about it.")],
    language: Annotated[str, typer.Option(help="The caption's language.")] = "en",
    out: Annotated[Path, typer.Option(help="File to make: .html, or .png.")] = Path("explain.html"),
    data: Annotated[Path | None, typer.Option(help="Dataset folder to take the image's regions from.")] = None,
) -> None:
    """Show where each word is seen. Example: vse-zoo explain runs/first --image dog.jpg --caption 'a dog runs'"""
    from vse_zoo.workflow.explain import explain_picture

    explain_picture(model, image, caption, out, language=language, data=data)
    say(f"Open {out}")


def report(
    model: Model,
    data: Annotated[Path, typer.Option(help="Dataset folder with region features.")],
    split: Annotated[str, typer.Option(help="Split to show.")] = "test",
    out: Annotated[Path, typer.Option(help="The .html file to make.")] = Path("report.html"),
    queries: Annotated[int, typer.Option(help="Pictures in the gallery, drawn at random.")] = 9,
    seed: Annotated[int, typer.Option(help="Draws what is shown.")] = 0,
) -> None:
    """One page with figures, examples and attention. Example: vse-zoo report runs/first --data data/mine"""
    from vse_zoo.workflow.report import report_folder

    report_folder(model, data, split, out, queries=queries, seed=seed)
    say(f"Open {out}")


def export(
    model: Model,
    folder: Annotated[Path, typer.Argument(help="Folder to make; its name is the served model's.")],
    version: Annotated[int, typer.Option(help="Number of the version; a server loads the highest.")] = 1,
    grid: Annotated[
        str | None, typer.Option(help="Rows x columns of the regions, where the model does not record them.")
    ] = None,
) -> None:
    """Write a SavedModel for TensorFlow Serving. Example: vse-zoo export runs/first served/first"""
    regions = parse_grid(grid)
    from vse_zoo.workflow.export import export_run

    found = export_run(model, folder, version, regions)
    for name, reason in found.left_out.items():
        note(f"left out {name}: {reason}")
    say(f"{found.path}: {', '.join(found.signatures)}; default: {found.default}")


def quickstart(
    out: Annotated[Path, typer.Option(help="Folder for data, run and report.")] = Path("vse-zoo-quickstart"),
) -> None:
    """Render scenes, train, evaluate and report, in minutes. Example: vse-zoo quickstart --out first-look"""
    from rich.console import Console

    from vse_zoo.workflow.quickstart import quickstart as run_quickstart

    run_quickstart(out, Console())


def models() -> None:
    """List the built-in models. Example: vse-zoo models"""
    from rich.table import Table

    from vse_zoo import presets

    table = Table("model", "languages", "data", title="Built-in models: vse_zoo.load(name)")
    for name in presets.names():
        record = presets.metadata(name)
        table.add_row(name, ", ".join(presets.languages(name)), record.get("dataset", {}).get("name", ""))
    show(table)
