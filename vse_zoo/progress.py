"""One look for every long job: a bar with the time left, on standard error, silent when nobody watches."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

__all__ = ["progress"]


class Bar:
    """A single running bar; ``advance(n)`` moves it."""

    def __init__(self, bar: Progress, task: TaskID) -> None:
        self._bar = bar
        self._task = task

    def advance(self, steps: int = 1) -> None:
        """Moves the bar by ``steps``."""
        self._bar.advance(self._task, steps)


@contextmanager
def progress(description: str, total: int, done: int = 0) -> Iterator[Bar]:
    """A bar over ``total`` steps, ``done`` of which were finished by an earlier, interrupted run."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        yield Bar(bar, bar.add_task(description, total=total, completed=done))
