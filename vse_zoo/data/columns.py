"""The columns that a table should have, found among those that it has."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from vse_zoo.errors import DataError, located

__all__ = ["Columns"]

_SHOWN = 8
_LONGEST = 40


class Columns:
    """Finds columns by their names, whose case doesn't matter, and remembers those that nobody asked for.

    Args:
        path: the table, for messages.
        required: columns that must be there.
        optional: columns that may be there.
        note: gets a sentence on the columns that are not read.
    """

    def __init__(
        self, path: Path, required: Sequence[str], optional: Sequence[str], note: Callable[[str], None]
    ) -> None:
        self.path, self.required, self.note = path, tuple(required), note
        self.names = (*required, *optional)
        self._meant: dict[str, str] = {}
        self._unread: dict[str, None] = {}

    def meant(self, name: str) -> str:
        """The column that a name means; a name of no column means itself."""
        if name not in self._meant:
            plain = name.strip()
            self._meant[name] = next((each for each in self.names if each.casefold() == plain.casefold()), plain)
        return self._meant[name]

    def count(self, header: Iterable[str]) -> int:
        """How many of the required columns a header has."""
        return len({self.meant(name) for name in header}.intersection(self.required))

    def check(self, header: Sequence[str], row: int, line: int) -> None:
        """A `DataError` if a column is missing, or is there twice."""
        found = [self.meant(name) for name in header]
        for name in self.names:
            if found.count(name) > 1:
                problem = f"found the column {name!r} twice."
                raise DataError(located(self.path, problem, row=row, line=line, field=name))
        for name in self.required:
            if name not in found:
                problem = (
                    f"found no column {name!r} among {_some(found)}, expected the columns: {', '.join(self.names)}."
                )
                alike = get_close_matches(name, [each for each in found if each not in self.names], 1)
                do = f"Rename {alike[0]!r} to {name!r}." if alike else None
                raise DataError(located(self.path, problem, row=row, line=line, field=name, do=do))

    def chosen(self, values: dict[str, Any]) -> dict[str, Any]:
        """The value of each column, "" where it is absent."""
        meant = {self.meant(name): value for name, value in values.items()}
        self._unread.update(dict.fromkeys(name for name in meant if name and name not in self.names))
        return {name: "" if meant.get(name) is None else meant[name] for name in self.names}

    def say_unread(self) -> None:
        """One sentence on the columns that nobody asked for."""
        if not self._unread:
            return
        said = f"{self.path.name}: these columns are ignored: {_some(self._unread)}."
        for name in self._unread:
            if alike := get_close_matches(name.casefold(), self.names, 1):
                said += f" If {name!r} is to be read as {alike[0]!r}, rename it."
        self.note(said)


def _some(names: Iterable[str]) -> str:
    names = list(names)
    shown = [repr(name if len(name) <= _LONGEST else f"{name[:_LONGEST]}…") for name in names[:_SHOWN]]
    return ", ".join(shown + (["…"] if len(names) > _SHOWN else []))
