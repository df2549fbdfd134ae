"""The command line: each command calls one job of the package, and has no logic of its own.

What a command needs is imported when it runs: help, completion and wrong options never wait for TensorFlow.
"""

from __future__ import annotations

from typing import Annotated

import typer

import vse_zoo
from vse_zoo.cli.console import console_errors, say
from vse_zoo.cli.features import features, views
from vse_zoo.cli.models import evaluate, explain, export, ground, models, quickstart, report, train
from vse_zoo.cli.prepare import prepare
from vse_zoo.cli.search import index, search, serve
from vse_zoo.quiet import hide_gpu_notices

__all__ = ["app", "console_errors", "run"]


def _show_version(asked: bool) -> None:
    if asked:
        say(f"vse-zoo {vse_zoo.__version__}")
        raise typer.Exit


app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)
app.add_typer(prepare, name="prepare")
for _command in (
    features,
    views,
    train,
    evaluate,
    ground,
    explain,
    report,
    export,
    quickstart,
    index,
    search,
    serve,
    models,
):
    app.command()(_command)


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Search pictures by sentence and sentences by picture. Example: vse-zoo quickstart"""


def run() -> None:
    """The console script."""
    hide_gpu_notices()
    with console_errors():
        app()
