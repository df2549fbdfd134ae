"""Which files an index knows, and which content each of them has: an SQLite file."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from vse_zoo.errors import DataError, located
from vse_zoo.search.photos import Stamp

__all__ = ["Catalogue"]

_SCHEMA = """
CREATE TABLE IF NOT EXISTS contents (key INTEGER PRIMARY KEY AUTOINCREMENT, hash BLOB NOT NULL UNIQUE, reason TEXT);
CREATE TABLE IF NOT EXISTS files (
    path BLOB PRIMARY KEY, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, content INTEGER, reason TEXT
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS files_by_content ON files (content);
"""
_MANY = 500
"""Values in one query; SQLite's oldest limit is 999."""


class Catalogue:
    """Files by path, contents by hash; files of equal content share it. A content's key is never given again.

    A content that can't be decoded has a reason instead of a vector. A file that couldn't even be opened has no content
    and a reason of its own.

    Args:
        path: of the SQLite file, made if missing.

    Raises:
        DataError: it is no SQLite file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.RLock()
        self._database = sqlite3.connect(path, timeout=30, check_same_thread=False, isolation_level=None)
        try:
            self._database.executescript(_SCHEMA)
        except sqlite3.DatabaseError as error:
            self._database.close()
            problem = f"can't be read as SQLite ({error})."
            raise DataError(located(path, problem, do="Remove the folder and index the photos again.")) from None

    def close(self) -> None:
        """Closes the file."""
        self._database.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All that is written within is kept together, or nothing of it."""
        with self._lock:
            self._database.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._database.execute("ROLLBACK")
                raise
            self._database.execute("COMMIT")

    def stamps(self) -> dict[str, Stamp]:
        """Every file that was opened, and its stamp then."""
        rows = self._rows("SELECT path, size, mtime_ns FROM files WHERE content IS NOT NULL")
        return {os.fsdecode(path): Stamp(size, mtime_ns) for path, size, mtime_ns in rows}

    def paths(self) -> set[str]:
        """Every file."""
        return {os.fsdecode(path) for (path,) in self._rows("SELECT path FROM files")}

    def retry_undecodable(self, formats: int) -> None:
        """Forgets the contents that couldn't be decoded, and their files, if another set of formats can be decoded now.

        Args:
            formats: a number of its own for every set; it is kept for the next time.
        """
        with self.transaction():
            if self._rows("PRAGMA user_version") != [(formats,)]:
                undecodable = "SELECT key FROM contents WHERE reason IS NOT NULL"
                self._database.execute(f"DELETE FROM files WHERE content IN ({undecodable})")
                self._database.execute("DELETE FROM contents WHERE reason IS NOT NULL")
                self._database.execute(f"PRAGMA user_version = {formats:d}")

    def keys_by_hash(self) -> dict[bytes, int]:
        """The key of every content, decoded or not."""
        return {digest: key for key, digest in self._rows("SELECT key, hash FROM contents")}

    def add_content(self, digest: bytes, reason: str | None) -> int:
        """A new content's key."""
        cursor = self._database.execute("INSERT INTO contents (hash, reason) VALUES (?, ?)", (digest, reason))
        assert cursor.lastrowid is not None
        return cursor.lastrowid

    def put_file(self, path: str, stamp: Stamp, content: int | None, reason: str | None = None) -> None:
        """Adds or replaces a file."""
        values = (os.fsencode(path), stamp.size, stamp.mtime_ns, content, reason)
        self._database.execute("INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?)", values)

    def forget_files(self, paths: Iterable[str]) -> None:
        """Removes files; their contents stay until `drop_contents`."""
        self._database.executemany("DELETE FROM files WHERE path = ?", [(os.fsencode(path),) for path in paths])

    def unused(self) -> list[int]:
        """Contents of no file."""
        query = "SELECT key FROM contents WHERE NOT EXISTS (SELECT 1 FROM files WHERE files.content = contents.key)"
        return [key for (key,) in self._rows(query)]

    def drop_contents(self, keys: Iterable[int]) -> None:
        """Removes contents."""
        self._database.executemany("DELETE FROM contents WHERE key = ?", [(key,) for key in keys])

    def files_of(self, keys: Iterable[int]) -> dict[int, list[str]]:
        """The files of each content that has some, in order of their paths."""
        found: dict[int, list[str]] = {}
        keys = list(map(int, keys))
        for start in range(0, len(keys), _MANY):
            some = keys[start : start + _MANY]
            marks = ",".join("?" * len(some))
            query = f"SELECT content, path FROM files WHERE content IN ({marks}) ORDER BY path"
            for key, path in self._rows(query, some):
                found.setdefault(key, []).append(os.fsdecode(path))
        return found

    def key_of(self, path: str) -> int | None:
        """The content of a file, if it is known and could be decoded."""
        query = "SELECT key FROM files JOIN contents ON content = key WHERE path = ? AND contents.reason IS NULL"
        rows = self._rows(query, [os.fsencode(path)])
        return rows[0][0] if rows else None

    def photos(self) -> list[tuple[str, int]]:
        """Every file that can be found, with its content, in order of the paths."""
        query = "SELECT path, key FROM files JOIN contents ON content = key WHERE contents.reason IS NULL ORDER BY path"
        return [(os.fsdecode(path), key) for path, key in self._rows(query)]

    def counts(self) -> tuple[int, int]:
        """How many files can be found, and how many different contents they have."""
        query = (
            "SELECT count(*), count(DISTINCT key) FROM files JOIN contents ON content = key "
            "WHERE contents.reason IS NULL"
        )
        ((files, contents),) = self._rows(query)
        return files, contents

    def unreadable(self) -> dict[str, str]:
        """Every file that can't be found, and why."""
        query = (
            "SELECT path, coalesce(files.reason, contents.reason) FROM files LEFT JOIN contents ON content = key "
            "WHERE files.reason IS NOT NULL OR contents.reason IS NOT NULL ORDER BY path"
        )
        return {os.fsdecode(path): reason for path, reason in self._rows(query)}

    def _rows(self, query: str, values: Iterable[object] = ()) -> list[tuple[Any, ...]]:
        with self._lock:
            return self._database.execute(query, tuple(values)).fetchall()
