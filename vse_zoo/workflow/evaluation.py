"""A model's figures on a folder, whichever kind of folder it is: retrieval on captions, correlations on two views."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Group, RenderableType

from vse_zoo.data import Dataset, TwoViewData
from vse_zoo.errors import ConfigError, EvaluationError, located
from vse_zoo.evaluation import evaluate, evaluate_each, figures_as_dict
from vse_zoo.evaluation.correlation import evaluate_correlation
from vse_zoo.evaluation.tables import correlation_table, figures_table

__all__ = ["Evaluation", "evaluate_folder"]

_COCO = "coco"
_COCO_IMAGES = 5000


@dataclass(frozen=True)
class Evaluation:
    """Figures to show and to keep.

    Args:
        table: for the terminal.
        values: plain numbers for JSON.
    """

    table: RenderableType
    values: dict[str, Any]


def evaluate_folder(
    model: Any, name: str, data: Path, split: str, folds: int = 1, protocol: str | None = None
) -> Evaluation:
    """Figures of a model on a split of a dataset folder or of a two-view folder.

    Args:
        model: of the zoo.
        name: what to call it in the table.
        data: the folder.
        split: its name.
        folds: of a dataset folder, as in `vse_zoo.evaluation.evaluate`.
        protocol: "coco" gives the two kinds of figures that papers report of COCO's 5,000 test images: over all of
            them ("5K"), and the mean of five folds of 1,000, in the dataset's order ("1K").

    Raises:
        EvaluationError: the model is of the other kind, or the split can't be evaluated.
        ConfigError: another protocol, or folds beside one.
        DataError: the folder is neither, or is damaged.
    """
    if protocol not in (None, _COCO) or (protocol and folds != 1):
        raise ConfigError(f"protocol: found {protocol!r} with {folds} folds, expected {_COCO!r} alone, or folds alone.")
    title = f"{name}, {split} split of {data}"
    if TwoViewData.is_at(data):
        if not hasattr(model, "encode_x"):
            problem = f"holds two matrices, and {type(model).__name__} takes pictures and sentences."
            raise EvaluationError(located(data, problem, do="Pass a dataset folder."))
        found = evaluate_correlation(model, TwoViewData.open(data), split)
        return Evaluation(correlation_table(found, title), {"split": split, **found.as_dict()})
    if not model.languages:
        problem = "holds pictures and captions, and the model was made for two matrices."
        raise EvaluationError(located(data, problem, do="Pass a two-view folder."))
    title += ": retrieval in percent"
    if protocol:
        return _coco(model, Dataset.open(data), split, title)
    figures = evaluate(model, Dataset.open(data), split, folds=folds)
    return Evaluation(figures_table(figures, title), figures_as_dict(figures, split))


def _coco(model: Any, dataset: Dataset, split: str, title: str) -> Evaluation:
    for language in (each for each in dataset.languages if each in model.languages):
        images = len(np.unique(dataset.captions(split, language)[1]))
        if images != _COCO_IMAGES:
            problem = f"split {split!r} has {images} images with captions in {language!r}, expected {_COCO_IMAGES}."
            raise EvaluationError(located(dataset.path, problem, do="Use --folds 5 for other splits than COCO's."))
    whole, fifths = evaluate_each(model, dataset, split, folds=(1, 5))
    tables = figures_table(whole, f"{title}, 5K"), figures_table(fifths, f"{title}, 1K: mean of five folds")
    values = {"5K": figures_as_dict(whole, split), "1K": figures_as_dict(fifths, split)}
    return Evaluation(Group(*tables), {"split": split, "protocol": _COCO, **values})
