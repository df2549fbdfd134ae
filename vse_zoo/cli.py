"""The command line: each command calls one function of the package, and has no logic of its own."""

from __future__ import annotations

import inspect
import json
import runpy
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer
from rich.console import Console

from vse_zoo import presets, registry
from vse_zoo.data import Dataset, sources, write_dataset
from vse_zoo.errors import VSEZooError
from vse_zoo.evaluation import evaluate
from vse_zoo.evaluation.tables import figures_table
from vse_zoo.features import backbones, extract_regions
from vse_zoo.files import write_json

__all__ = ["app", "console_errors"]

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="markdown")
prepare = typer.Typer(no_args_is_help=True, help="Read raw data into a dataset folder: one command a source.")
app.add_typer(prepare, name="prepare")
console = Console()


@contextmanager
def console_errors() -> Iterator[None]:
    """Shows the package's own errors as one message, without a traceback, and exits with 1."""
    try:
        yield
    except VSEZooError as error:
        Console(stderr=True).print(f"[bold red]Error:[/] {error}", highlight=False, soft_wrap=True)
        raise SystemExit(1) from None


def run() -> None:
    """The console script."""
    with console_errors():
        app()


def _add_source(name: str) -> None:
    """A ``prepare`` command whose options are the parameters of the source's reader."""
    reader = sources.get(name)
    hints = get_type_hints(reader, include_extras=True)

    def command(out: Path, overwrite: bool, **options: Any) -> None:
        source = reader(**options)
        dataset = write_dataset(
            out,
            source.records,
            name=source.name,
            image_source=source.image_source,
            languages=source.languages,
            overwrite=overwrite,
        )
        for note in source.notes:
            console.print(f"- {note}", highlight=False)
        splits = ", ".join(f"{split} {count:,}" for split, count in dataset.splits.items())
        console.print(f"{len(dataset):,} images ({splits}), languages {', '.join(dataset.languages)}, in {out}")
        console.print(f"Next: vse-zoo features {out}")

    parameters = [
        inspect.Parameter("out", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Annotated[Path, typer.Argument(help="Dataset folder to make.")]),
        inspect.Parameter("overwrite", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Annotated[bool, typer.Option(help="Replace the dataset that is there.")]),
    ]
    for parameter in inspect.signature(reader).parameters.values():
        kind, text = get_args(hints[parameter.name])[:2] if get_origin(hints[parameter.name]) is Annotated else (hints[parameter.name], "")
        option = Annotated[kind, typer.Option(help=text)]
        parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=option))
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    prepare.command(name, help=reader.__doc__)(command)


for _name in sources.names():
    _add_source(_name)
