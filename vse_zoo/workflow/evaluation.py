"""A model's figures on a folder, whichever kind of folder it is: retrieval on captions, correlations on two views."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

from vse_zoo.data import Dataset, TwoViewData
from vse_zoo.errors import EvaluationError, located
from vse_zoo.evaluation import evaluate, figures_as_dict
from vse_zoo.evaluation.correlation import evaluate_correlation
from vse_zoo.evaluation.tables import correlation_table, figures_table

__all__ = ["Evaluation", "evaluate_folder"]


@dataclass(frozen=True)
class Evaluation:
    """Figures to show and to keep.

    Args:
        table: for the terminal.
        values: plain numbers for JSON.
    """

    table: Table
    values: dict[str, Any]


def evaluate_folder(model: Any, name: str, data: Path, split: str, folds: int = 1) -> Evaluation:
    """Figures of a model on a split of a dataset folder or of a two-view folder.

    Args:
        model: of the zoo.
        name: what to call it in the table.
        data: the folder.
        split: its name.
        folds: of a dataset folder, as in `vse_zoo.evaluation.evaluate`.

    Raises:
        EvaluationError: the model is of the other kind, or the split can't be evaluated.
        DataError: the folder is neither, or is damaged.
    """
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
    figures = evaluate(model, Dataset.open(data), split, folds=folds)
    return Evaluation(figures_table(figures, f"{title}: retrieval in percent"), figures_as_dict(figures, split))
