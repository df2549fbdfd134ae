"""``vse-zoo prepare NAME``: a command for each source of raw data, made of the parameters of its reader."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Annotated, Any, get_args, get_type_hints

import typer
from typer.core import TyperGroup
from typer.main import get_group

from vse_zoo.cli.console import note, say

__all__ = ["prepare"]

Out = Annotated[Path, typer.Argument(help="Folder to make.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the data that is there.")]


class SourceCommands(TyperGroup):
    """The commands of all sources; the sources are imported when a command is asked for or listed."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The names of the sources."""
        self._add_sources()
        return super().list_commands(ctx)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of a source, or None."""
        self._add_sources()
        return super().get_command(ctx, cmd_name)

    def _add_sources(self) -> None:
        if self.commands:
            return
        from vse_zoo.data import sources

        group = typer.Typer()
        for name in sources.names():
            _add_source(group, name, sources.get(name))
        self.commands.update(get_group(group).commands)


prepare = typer.Typer(no_args_is_help=True, cls=SourceCommands)


@prepare.callback()
def read_raw_data() -> None:
    """Read raw data into a folder of its own. Example: vse-zoo prepare folder --help"""


def _add_source(group: typer.Typer, name: str, reader: Any) -> None:
    """Adds a command whose options are the parameters of the source's reader."""
    hints = get_type_hints(reader, include_extras=True)

    def command(out: Path, overwrite: bool = False, **options: Any) -> None:
        found = reader(**options)
        found.write(out, overwrite=overwrite)
        for remark in found.notes:
            note(remark)
        say(found.summary(out))

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
    group.command(name, help=inspect.getdoc(reader))(command)
