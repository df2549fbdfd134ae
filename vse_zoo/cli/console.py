"""What the commands share: how they print, and how an error ends them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.markup import escape

from vse_zoo.errors import ConfigError, VSEZooError

__all__ = ["console_errors", "note", "parse_grid", "say", "show"]


@contextmanager
def console_errors() -> Iterator[None]:
    """Shows the package's own errors as one message without a traceback, and exits with status 1."""
    try:
        yield
    except VSEZooError as error:
        Console(stderr=True).print(f"[bold red]Error:[/] {escape(str(error))}", highlight=False, soft_wrap=True)
        raise SystemExit(1) from None


def say(text: str) -> None:
    """Prints a line as it is, because a path or a command that is broken in two can't be copied."""
    Console().print(text, highlight=False, markup=False, soft_wrap=True)


def note(remark: str) -> None:
    """Prints a remark as an item of a list."""
    say(f"- {remark}")


def show(table: Any) -> None:
    """Prints a table or another object of Rich."""
    Console().print(table)


def parse_grid(text: str | None) -> tuple[int, int] | None:
    """The rows and columns of an option such as ``7x7``, or None where the option isn't given.

    Raises:
        ConfigError: The text is anything else.
    """
    if text is None:
        return None
    rows, _, columns = text.partition("x")
    if not (rows.isdigit() and columns.isdigit()):
        raise ConfigError(f"--grid: found {text!r}, expected rows x columns, such as 7x7.")
    return int(rows), int(columns)
