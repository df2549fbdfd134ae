"""Mean and spread of retrieval figures over runs that differ in their seed, as a Markdown row a language.

python recipes/compare_runs.py runs/flickr8k-0 runs/flickr8k-1 runs/flickr8k-2 --data data/flickr8k --split test
"""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from vse_zoo import presets
from vse_zoo.cli import console_errors
from vse_zoo.data import Dataset
from vse_zoo.evaluation import Direction, evaluate
from vse_zoo.evaluation.tables import LANGUAGE_NAMES, markdown_table


def main(
    runs: Annotated[list[Path], typer.Argument(help="Run folders, preset folders or built-in names.")],
    data: Annotated[Path, typer.Option(help="Dataset folder with region features.")],
    split: Annotated[str, typer.Option(help="Split to search in.")] = "test",
) -> None:
    """Print mean ± sample standard deviation of R@1/5/10 in percent over the runs, in both directions."""
    dataset = Dataset.open(data)
    figures = [evaluate(presets.load(run), dataset, split) for run in runs]
    rows = [
        [LANGUAGE_NAMES.get(language, language)]
        + [_recalls([getattr(each[language], direction) for each in figures]) for direction in ("i2t", "t2i")]
        for language in figures[0]
    ]
    print(markdown_table([f"{split}, {len(runs)} runs", "image to text R@1/5/10", "text to image R@1/5/10"], rows))
    first = np.array([np.mean([(found.i2t.r1, found.t2i.r1) for found in each.values()]) for each in figures])
    print(f"\nMean R@1 over languages and directions: {_spread(first[:, None])}")


def _recalls(directions: list[Direction]) -> str:
    return _spread(np.array([direction.recalls for direction in directions]))


def _spread(values: np.ndarray) -> str:
    """(runs, figures) as mean ± sample standard deviation; of one run, the figures alone."""
    if len(values) == 1:
        return " / ".join(f"{value:.1f}" for value in values[0])
    pairs = zip(values.mean(0), values.std(0, ddof=1), strict=True)
    return " / ".join(f"{mean:.1f} ± {deviation:.1f}" for mean, deviation in pairs)


if __name__ == "__main__":
    with console_errors():
        typer.run(main)
