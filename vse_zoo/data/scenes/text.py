"""Puts the parts of a sentence together and keeps track of where each noun phrase stands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

__all__ = ["Piece", "Span", "enumerated", "sentence"]


class Piece(NamedTuple):
    """Some words; ``mention`` is the number of the mention they express, or None for all other words."""

    text: str
    mention: int | None = None


class Span(NamedTuple):
    """The characters from ``start`` up to ``end`` express mention number ``mention``."""

    mention: int
    start: int
    end: int


def sentence(pieces: Iterable[Piece]) -> tuple[str, list[Span]]:
    """The pieces with spaces between (none before a comma or colon), a capital first letter and a full stop."""
    text, spans = "", []
    for piece in pieces:
        if not piece.text:
            continue
        text += " " if text and piece.text[0] not in ",:" else ""
        if piece.mention is not None:
            spans.append(Span(piece.mention, len(text), len(text) + len(piece.text)))
        text += piece.text
    return text[0].upper() + text[1:] + ".", spans


def enumerated(chunks: Sequence[Sequence[Piece]], conjunction: str) -> list[Piece]:
    """Chunks as in "a, b and c"; a comma before the conjunction too after a chunk of two mentions, for clarity."""
    pieces: list[Piece] = []
    for number, chunk in enumerate(chunks):
        last = number == len(chunks) - 1
        long = any(sum(piece.mention is not None for piece in earlier) > 1 for earlier in chunks[:number])
        if number and (not last or long):
            pieces.append(Piece(","))
        if number and last:
            pieces.append(Piece(conjunction))
        pieces.extend(chunk)
    return pieces
