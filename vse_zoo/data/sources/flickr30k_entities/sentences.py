"""Sentences of Flickr30k Entities: ``[/EN#283585/people Two young guys] with …`` to a text and its phrases."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from vse_zoo.data.sources.published import one_line
from vse_zoo.errors import DataError, located

__all__ = ["Sentence", "parse_sentence"]

_OPEN = "[/EN#"
_PHRASE = re.compile(r"\[/EN#(?P<chain>[^/\s\[\]]+)/[^\s\[\]]+\s(?P<words>[^\[\]]*)\]")


@dataclass(frozen=True)
class Sentence:
    """A caption without its brackets.

    Args:
        text: the caption, spaced as in the file; empty if the line holds no word.
        phrases: (chain, start, end): the words ``text[start:end]`` name what has the boxes of that chain.
        unnamed: number of brackets without a word, which are no phrases.
    """

    text: str
    phrases: tuple[tuple[str, int, int], ...]
    unnamed: int


def parse_sentence(path: Path, row: int, line: str) -> Sentence:
    """The sentence on a line.

    Raises:
        DataError: a bracket isn't closed, stands in another one, or holds no chain, type and words.
    """
    line = one_line(line)
    text, done, phrases, unnamed = "", 0, [], 0
    for match in _PHRASE.finditer(line):
        text += line[done : match.start()]
        words = match["words"]
        start = len(text) + len(words) - len(words.lstrip())
        if words.strip():
            phrases.append((match["chain"], start, start + len(words.strip())))
        else:
            unnamed += 1
        text += words
        done = match.end()
    text += line[done:]
    if _OPEN in text:
        found = text[text.index(_OPEN) :][:40]
        raise DataError(located(path, f"found {found!r}, expected a phrase as [/EN#chain/type words].", row=row))
    lead = len(text) - len(text.lstrip())
    moved = tuple((chain, start - lead, end - lead) for chain, start, end in phrases)
    return Sentence(text.strip(), moved, unnamed)
