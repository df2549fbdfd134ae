"""Tables of figures and the rows to read them against."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from rich.console import Console

from vse_zoo.evaluation import Direction, RetrievalFigures
from vse_zoo.evaluation.baselines import chance
from vse_zoo.evaluation.tables import figures_table, markdown_table, recalls

FIGURES = RetrievalFigures(
    Direction(24.8, 49.3, 60.5, 6, 28.1, 1000), Direction(17.2, 44.4, 58.25, 7.5, 30, 5000), 1000, 5000
)


def test_markdown_in_the_form_of_papers() -> None:
    table = markdown_table(["", "i2t", "t2i"], [["English | EN", recalls(FIGURES.i2t), recalls(FIGURES.t2i)]])
    assert table.splitlines() == [
        "|  | i2t | t2i |",
        "| --- | ---: | ---: |",
        r"| English \| EN | 24.8/49.3/60.5 | 17.2/44.4/58.2 |",
    ]


def test_terminal_table_shows_every_figure_in_80_columns() -> None:
    console = Console(width=80, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    console.print(figures_table({"en": FIGURES, "xx": FIGURES}, "test split"))
    text = console.export_text()
    assert all(cell in text for cell in ["English", "xx", "test split", "24.8/49.3/60.5", "17.2/44.4/58.2", "6, 7.5"])


@pytest.mark.parametrize("counts", [[5] * 20, [1, 2, 7, 3, 1], [1], [30, 1]])
def test_chance_equals_the_hypergeometric_formula(counts: list[int]) -> None:
    owners = np.repeat(np.arange(len(counts)), counts)
    i2t, t2i = chance(np.random.default_rng(0).permutation(owners))
    captions = sum(counts)
    for k, by_image, by_text in zip((1, 5, 10), i2t, t2i, strict=True):
        drawn = min(k, captions)
        misses = [comb(captions - own, drawn) / comb(captions, drawn) for own in counts]
        assert by_image == pytest.approx(100 * (1 - np.mean(misses)))
        assert by_text == pytest.approx(100 * min(1, k / len(counts)))
