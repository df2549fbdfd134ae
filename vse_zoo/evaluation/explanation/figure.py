"""An explanation as one picture, for papers and slides."""

from __future__ import annotations

import math
import warnings
from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

from vse_zoo.evaluation.explanation.content import Explanation, numbered_picture, word_pictures
from vse_zoo.files import replacing

__all__ = ["write_figure"]

_WIDTH, _COLUMNS = 11.0, 5
_ROW = 0.17
"""Inches of a row of the matrix."""


def write_figure(explanation: Explanation, path: Path) -> None:
    """Writes a .png with the numbered picture, a heat map of each word, and the plan as a matrix."""
    words, regions = len(explanation.alignment.words), len(explanation.boxes)
    lines = math.ceil((words + 1) / _COLUMNS)
    aspect = explanation.image.height / explanation.image.width
    above = lines * (_WIDTH / _COLUMNS * min(max(aspect, 0.4), 2.0) + 0.2) + 0.5
    below = 1.6 + _ROW * regions
    with matplotlib.rc_context({"font.family": "sans-serif", "font.size": 10}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph")  # letters that the font lacks are drawn as boxes
        figure = Figure(figsize=(_WIDTH, above + below), layout="constrained")
        halves = figure.add_gridspec(2, 1, height_ratios=[above, below])
        _maps(figure.add_subfigure(halves[0]), explanation, lines)
        _matrix(figure.add_subfigure(halves[1]).add_subplot(), explanation)
        with replacing(path) as temporary:
            figure.savefig(temporary, format="png", dpi=110, metadata={"Software": None})


def _maps(figure: SubFigure, explanation: Explanation, lines: int) -> None:
    figure.suptitle(f"{explanation.caption}   (score {explanation.alignment.score:.4g})", parse_math=False, wrap=True)
    axes = figure.subplots(lines, _COLUMNS, squeeze=False).ravel()
    for each in axes:
        each.axis("off")
    axes[0].imshow(numbered_picture(explanation))
    axes[0].set_title("regions", fontsize=9, color="#666666")
    for number, picture in enumerate(word_pictures(explanation)):
        axes[number + 1].imshow(picture)
        axes[number + 1].set_title(_label(explanation, number), parse_math=False)


def _matrix(axes: Axes, explanation: Explanation) -> None:
    shares = 100 * explanation.shares
    axes.imshow(explanation.levels, cmap="inferno", vmin=0, vmax=1, aspect="auto", interpolation="nearest")
    words, regions = len(explanation.alignment.words), len(explanation.boxes)
    axes.xaxis.tick_top()
    labels = [_label(explanation, number) for number in range(words)]
    axes.set_xticks(range(words), labels, rotation=35, ha="left", rotation_mode="anchor", parse_math=False)
    axes.set_yticks(range(regions), [str(number + 1) for number in range(regions)], fontsize=7)
    axes.set_ylabel("region")
    axes.set_xlabel("percent of the word's mass that each region sends; * not in the model's vocabulary")
    for region, word in zip(*(explanation.levels >= 0.25).nonzero(), strict=True):
        dark = explanation.levels[region, word] < 0.6
        color = "white" if dark else "black"
        axes.text(word, region, f"{shares[region, word]:.0f}", ha="center", va="center", fontsize=7, color=color)


def _label(explanation: Explanation, number: int) -> str:
    return explanation.alignment.words[number] + ("" if explanation.known[number] else " *")
