"""SemEval's STS files: a pair of sentences a line in ``STS.input.NAME.txt``, its gold score in ``STS.gs.NAME.txt``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vse_zoo.data.tables import lines
from vse_zoo.errors import DataError, located

__all__ = ["STSPairs", "read_sts"]

_INPUT = re.compile(r"STS\.input\.(?P<name>.+)\.txt")
_HIGHEST = 5.0


@dataclass(frozen=True, eq=False)
class STSPairs:
    """The scored pairs of one file.

    Args:
        name: of the file, after its folder where that lies below the one that was read: ``2012/MSRvid``.
        path: the file of sentences.
        first, second: P sentences each.
        gold: (P,) float64, people's mean score from 0 (unrelated) to 5 (equivalent).
        skipped: how many pairs of the file have no score.
    """

    name: str
    path: Path
    first: list[str]
    second: list[str]
    gold: NDArray[np.float64]
    skipped: int


def read_sts(folder: Path, encoding: str | None = None) -> list[STSPairs]:
    """Reads the files of a year's folder, or of each folder in it, in the order of their names.

    A blank line among the gold scores means that nobody scored the pair: it is left out and counted. Gold scores
    without sentences are passed over: some sentences can't be published with them (2013's SMT).

    Args:
        folder: of one year, or of several years' folders.
        encoding: of files without a byte-order mark that aren't UTF-8.

    Raises:
        DataError: there are no such files, sentences have no gold scores, the two files differ in length, or a row
            isn't two sentences and a number from 0 to 5; file and row are named.
    """
    if not folder.is_dir():
        raise DataError(located(folder, "no such folder."))
    paths = [path for pattern in ("*", "*/*") for path in sorted(folder.glob(pattern)) if _INPUT.fullmatch(path.name)]
    if not paths:
        do = "Give the folder of a year, or the one above the years."
        raise DataError(located(folder, "found no files such as STS.input.MSRvid.txt.", do=do))
    return [_read(path, folder, encoding) for path in paths]


def _read(path: Path, folder: Path, encoding: str | None) -> STSPairs:
    match = _INPUT.fullmatch(path.name)
    assert match is not None
    name = (path.parent / match["name"]).relative_to(folder).as_posix()
    gold_path = path.with_name(path.name.replace("STS.input.", "STS.gs.", 1))
    if not gold_path.is_file():
        raise DataError(located(path, f"found no gold scores: {gold_path.name} is missing beside it."))
    sentences, scores = lines(path, encoding), lines(gold_path, encoding)
    if len(sentences) != len(scores):
        problem = f"found {len(scores)} lines, expected {len(sentences)} as in {path.name}."
        raise DataError(located(gold_path, problem, do="A pair without a score needs a blank line."))
    # Pairs that nobody scored take part in nothing, so nothing is asked of them.
    scored = [row for row, score in enumerate(scores, 1) if score.strip()]
    pairs = [_pair(path, row, sentences[row - 1]) for row in scored]
    gold = np.array([_score(gold_path, row, scores[row - 1]) for row in scored])
    first, second = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    return STSPairs(name, path, first, second, gold, len(scores) - len(scored))


def _pair(path: Path, row: int, line: str) -> tuple[str, str]:
    cells = [cell.strip() for cell in line.split("\t")]
    if len(cells) != 2:
        problem = f"found {len(cells)} columns, expected two sentences separated by a tab."
        raise DataError(located(path, problem, row=row))
    for number, cell in enumerate(cells, 1):
        if not cell:
            raise DataError(located(path, "found nothing, expected a sentence.", row=row, field=f"sentence {number}"))
    return cells[0], cells[1]


def _score(path: Path, row: int, line: str) -> float:
    try:
        score = float(line)
    except ValueError:
        score = -1.0
    if not 0 <= score <= _HIGHEST:
        problem = f"found {line.strip()!r}, expected a score from 0 to 5, or nothing."
        raise DataError(located(path, problem, row=row))
    return score
