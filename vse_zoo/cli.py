"""The command line: each command calls one job of the package, and has no logic of its own."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, get_args, get_type_hints

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from vse_zoo import presets
from vse_zoo.data import sources
from vse_zoo.errors import VSEZooError
from vse_zoo.features_cli import add_commands as add_feature_commands
from vse_zoo.features_cli import parse_grid
from vse_zoo.files import write_json
from vse_zoo.search_cli import add_commands as add_search_commands
from vse_zoo.workflow import evaluate_model, recipe_names
from vse_zoo.workflow import quickstart as run_quickstart
from vse_zoo.workflow import train as run_recipe
from vse_zoo.workflow.explain import explain_picture
from vse_zoo.workflow.export import export_run
from vse_zoo.workflow.grounding import ground_folder
from vse_zoo.workflow.report import report_folder

__all__ = ["app", "console_errors", "run"]

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
prepare = typer.Typer(no_args_is_help=True)
app.add_typer(
    prepare, name="prepare", help="Read raw data into a folder of its own, for example: vse-zoo prepare folder --help"
)
console = Console()

Out = Annotated[Path, typer.Argument(help="Folder to make.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the data that is there.")]


@contextmanager
def console_errors() -> Iterator[None]:
    """Shows the package's own errors as one message, without a traceback, and exits with 1."""
    try:
        yield
    except VSEZooError as error:
        Console(stderr=True).print(f"[bold red]Error:[/] {escape(str(error))}", highlight=False, soft_wrap=True)
        raise SystemExit(1) from None


def run() -> None:
    """The console script."""
    with console_errors():
        app()


def _say(text: str) -> None:
    """Prints a line as it is: a path or command that is broken in two can't be copied."""
    console.print(text, highlight=False, markup=False, soft_wrap=True)


def _note(remark: str) -> None:
    _say(f"- {remark}")


def _add_source(name: str) -> None:
    """A command of ``prepare`` whose options are the parameters of the source's reader."""
    reader = sources.get(name)
    hints = get_type_hints(reader, include_extras=True)

    def command(out: Path, overwrite: bool = False, **options: Any) -> None:
        found = reader(**options)
        found.write(out, overwrite=overwrite)
        for note in found.notes:
            _note(note)
        _say(found.summary(out))

    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [
        inspect.Parameter("out", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Out),
        inspect.Parameter("overwrite", keyword, default=False, annotation=Overwrite),
    ]
    for parameter in inspect.signature(reader).parameters.values():
        kind, text = get_args(hints[parameter.name])
        parameters.append(parameter.replace(kind=keyword, annotation=Annotated[kind, typer.Option(help=text)]))
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    prepare.command(name, help=inspect.getdoc(reader))(command)


for _name in sources.names():
    _add_source(_name)


add_feature_commands(app)


@app.command()
def train(
    recipe: Annotated[str, typer.Argument(help=f"Name of a recipe: {', '.join(recipe_names())}.")],
    data: Annotated[Path, typer.Option(help="Dataset folder with region features, or two-view folder.")],
    out: Annotated[Path, typer.Option(help="Run folder to make.")],
    config: Annotated[
        str | None, typer.Option(help="Name of one of the recipe's configurations, or a TOML file.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Instead of the configuration's seed.")] = None,
    epochs: Annotated[int | None, typer.Option(help="Instead of the configuration's number of epochs.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the run in --out.")] = False,
    strategy: Annotated[
        str, typer.Option(help="none, mirrored (this machine's GPUs) or multi_worker (several machines).")
    ] = "none",
) -> None:
    """Train a model. Example: vse-zoo train context_attention --data data/mine --out runs/first --config flickr8k"""
    options: dict[str, Any] = {"config": config, "seed": seed, "epochs": epochs, "resume": resume}
    run_recipe(recipe, data, out, **options, strategy=strategy)


@app.command()
def evaluate(
    model: Annotated[str, typer.Argument(help="Run folder, preset folder or built-in name.")],
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
    json_file: Annotated[Path | None, typer.Option("--json", help="Also write the figures there.")] = None,
) -> None:
    """Figures of retrieval, of two views, of similarity. Example: vse-zoo evaluate runs/first --data data/mine"""
    options: dict[str, Any] = {"between": between, "sts": sts, "language": language}
    found = evaluate_model(presets.load(model), model, data, split, folds, protocol, **options)
    console.print(found.table)
    if json_file is not None:
        write_json(json_file, found.values)


@app.command()
def ground(
    model: Annotated[str, typer.Argument(help="Run folder, preset folder or built-in name.")],
    data: Annotated[Path, typer.Option(help="Dataset folder with region features, boxes and phrases.")],
    split: Annotated[str, typer.Option(help="Split to evaluate on.")] = "test",
    boxes: Annotated[str, typer.Option(help="Of a phrase's boxes a region must match any, or their union.")] = "any",
    json_file: Annotated[Path | None, typer.Option("--json", help="Also write the figures there.")] = None,
) -> None:
    """How well phrases are found in the pictures. Example: vse-zoo ground runs/first --data data/scenes"""
    found = ground_folder(presets.load(model), model, data, split, boxes)
    console.print(found.table)
    if json_file is not None:
        write_json(json_file, found.values)


@app.command()
def explain(
    model: Annotated[str, typer.Argument(help="Run folder, preset folder or built-in name.")],
    image: Annotated[str, typer.Option(help="Picture file; with --data, the name of one of its images.")],
    caption: Annotated[str, typer.Option(help="A sentence about it.")],
    language: Annotated[str, typer.Option(help="The caption's language.")] = "en",
    out: Annotated[Path, typer.Option(help="File to make: .html, or .png.")] = Path("explain.html"),
    data: Annotated[Path | None, typer.Option(help="Dataset folder to take the image's regions from.")] = None,
) -> None:
    """Show where each word is seen. Example: vse-zoo explain runs/first --image dog.jpg --caption 'a dog runs'"""
    explain_picture(model, image, caption, out, language=language, data=data)
    _say(f"Open {out}")


@app.command()
def report(
    model: Annotated[str, typer.Argument(help="Run folder, preset folder or built-in name.")],
    data: Annotated[Path, typer.Option(help="Dataset folder with region features.")],
    split: Annotated[str, typer.Option(help="Split to show.")] = "test",
    out: Annotated[Path, typer.Option(help="The .html file to make.")] = Path("report.html"),
    queries: Annotated[int, typer.Option(help="Pictures in the gallery, drawn at random.")] = 9,
    seed: Annotated[int, typer.Option(help="Draws what is shown.")] = 0,
) -> None:
    """One page with figures, examples and attention. Example: vse-zoo report runs/first --data data/mine"""
    report_folder(model, data, split, out, queries=queries, seed=seed)
    _say(f"Open {out}")


@app.command()
def export(
    model: Annotated[str, typer.Argument(help="Run folder, preset folder or built-in name.")],
    folder: Annotated[Path, typer.Argument(help="Folder to make; its name is the served model's.")],
    version: Annotated[int, typer.Option(help="Number of the version; a server loads the highest.")] = 1,
    grid: Annotated[
        str | None, typer.Option(help="Rows x columns of the regions, where the model does not record them.")
    ] = None,
) -> None:
    """Write a SavedModel for TensorFlow Serving. Example: vse-zoo export runs/first served/first"""
    found = export_run(model, folder, version, parse_grid(grid) if grid else None)
    for name, reason in found.left_out.items():
        _note(f"left out {name}: {reason}")
    listed = ", ".join(found.signatures)
    _say(f"{found.path}: {listed}; default: {found.default}")


@app.command()
def quickstart(
    out: Annotated[Path, typer.Option(help="Folder for data, run and report.")] = Path("vse-zoo-quickstart"),
) -> None:
    """Render scenes, train, evaluate and report, in minutes. Example: vse-zoo quickstart --out first-look"""
    run_quickstart(out, console)


add_search_commands(app)


@app.command()
def models() -> None:
    """List the built-in models. Example: vse-zoo models"""
    table = Table("model", "languages", "data", title="Built-in models: vse_zoo.load(name)")
    for name in presets.names():
        record = presets.metadata(name)
        languages = ", ".join(presets.languages(name))
        table.add_row(name, languages, record.get("dataset", {}).get("name", ""))
    console.print(table)
