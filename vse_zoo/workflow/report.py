"""From a run and a dataset folder to the page that shows what the model does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from vse_zoo import presets
from vse_zoo.data import Dataset, TwoViewData
from vse_zoo.errors import ConfigError, DataError, EvaluationError, located
from vse_zoo.evaluation import evaluate
from vse_zoo.evaluation.report import report_run
from vse_zoo.evaluation.tables import LANGUAGE_NAMES
from vse_zoo.training import read_history

__all__ = ["report_folder"]


def report_folder(run: str, data: Path, split: str, out: Path, *, queries: int = 9, seed: int = 0) -> None:
    """Evaluates a model on a split of a dataset folder and writes the report.

    Args:
        run: run folder, preset folder or built-in name; a run folder has training curves too.
        data: dataset folder with region features.
        split: its name.
        out: the .html file.
        queries: pictures in the gallery.
        seed: draws what is shown.

    Raises:
        ConfigError: ``out`` is of another kind, or there is nothing to draw.
        DataError: the folder is damaged, has no such split, or holds regions of another size than the model's.
        EvaluationError: the folder or the model is one of two matrices, or the split has no captions for the model.
        PresetError: there is no such model.
    """
    if out.suffix != ".html":
        raise ConfigError(f"out: found {str(out)!r}, expected a file name that ends with .html.")
    if queries < 1:
        raise ConfigError(f"queries: found {queries}, expected at least 1.")
    if TwoViewData.is_at(data):
        problem = "holds two matrices, and a report is about pictures and sentences."
        raise EvaluationError(located(data, problem, do="vse-zoo evaluate gives the figures of such a folder."))
    dataset = Dataset.open(data)
    dataset.indices(split)
    model = presets.load(run)
    if not model.languages:
        raise EvaluationError(located(run, "the model was made for two matrices, and takes no sentences."))
    if dataset.region_dim != model.region_dim:
        problem = f"found regions of {dataset.region_dim} numbers, the model was trained on {model.region_dim}."
        raise DataError(located(data, problem))
    figures = evaluate(model, dataset, split)
    history = read_history(Path(run))
    facts = _facts(model, run, dataset, split, seed)
    if not history:
        facts["Training"] = "no curves: a preset holds none, a run folder does"
    title = f"{Path(run).name}: {split} split of {dataset.name}"
    report_run(
        model, dataset, split, figures, out, title=title, history=history, facts=facts, queries=queries, seed=seed
    )


def _facts(model: Any, run: str, dataset: Dataset, split: str, seed: int) -> dict[str, str]:
    trained = presets.trained_on(presets.metadata(run))
    regions = dataset.identity["backbone"] + (f", a grid of {'×'.join(map(str, dataset.grid))}" if dataset.grid else "")
    facts = {
        "Model": f"{run}: {type(model).__name__}, {model.count_params():,} parameters",
        "Languages": ", ".join(LANGUAGE_NAMES.get(each, each) for each in model.languages),
        "Data": f"{dataset.name}, {split} split",
        "Regions": regions,
        "Drawn by": f"seed {seed}",
    }
    if trained and trained.get("content_hash") != dataset.content_hash:
        facts["Data"] += f"; the model was trained on another dataset, {trained.get('name', 'without a name')}"
    return facts
