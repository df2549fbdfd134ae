"""How well a model finds the phrases of a dataset folder in its pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from vse_zoo.data import Dataset
from vse_zoo.evaluation.grounding import evaluate_grounding, grounding_as_dict, grounding_table
from vse_zoo.workflow.evaluation import Evaluation

__all__ = ["ground_folder"]


def ground_folder(model: Any, name: str, data: Path, split: str, boxes: str = "any") -> Evaluation:
    """Grounding figures of a model on a split of a dataset folder whose captions have phrases with boxes.

    Args:
        model: compares regions with words.
        name: what to call it in the table.
        data: the folder.
        split: its name.
        boxes: "any" or "union", as in `vse_zoo.evaluation.grounding.evaluate_grounding`.

    Raises:
        EvaluationError: the model compares whole pictures with sentences, or the split has no phrases with boxes.
        DataError: the folder isn't a dataset folder, or is damaged.
    """
    figures = evaluate_grounding(model, Dataset.open(data), split, boxes=boxes)
    title = f"{name}, {split} split of {data}: phrases found, in percent"
    return Evaluation(grounding_table(figures, title), grounding_as_dict(figures, split, boxes))
