"""The whole path in minutes on the built-in data: scenes, features, training, figures, report."""

from __future__ import annotations

import shlex
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import keras
from rich.console import Console

from vse_zoo import presets
from vse_zoo.data import Dataset, scenes
from vse_zoo.data.sources.scenes import read_scenes
from vse_zoo.evaluation import RetrievalFigures, evaluate
from vse_zoo.evaluation.baselines import Comparison, recalls_of
from vse_zoo.evaluation.report import report_run
from vse_zoo.evaluation.tables import LANGUAGE_NAMES, figures_table
from vse_zoo.features import backbones
from vse_zoo.training import read_history
from vse_zoo.workflow.features import add_features
from vse_zoo.workflow.train import train

__all__ = ["quickstart"]

_SIZES = {"train": 1000, "dev": 100, "test": 500}
_CONFIG = "scenes_quick"


def quickstart(out: Path, console: Console) -> None:
    """Trains on rendered scenes and reports on 500 test scenes; an interrupted quickstart goes on where it stopped.

    Args:
        out: folder for ``data/``, ``run/`` and ``report.html``.
        console: for the steps, the figures and what to do next.
    """
    started = time.monotonic()
    console.print("[bold]1/4[/] Rendering scenes and captions in English and German")
    dataset = _dataset(out / "data")
    console.print("[bold]2/4[/] Extracting region features (EfficientNet-lite0)")
    if not dataset.has_regions:
        dataset = add_features(dataset, backbones.get("efficientnet_lite0"))
    console.print("[bold]3/4[/] Training ContextAttentionVSE")
    train("context_attention", dataset.path, out / "run", config=_CONFIG, resume=True)
    console.print("[bold]4/4[/] Evaluating on the test split, writing the report")
    model = presets.load(out / "run")
    figures = evaluate(model, dataset, "test")
    comparisons = _comparisons(model, dataset)
    report = out / "report.html"
    report_run(
        model,
        dataset,
        "test",
        figures,
        report,
        title="vse_zoo quickstart: scenes",
        history=read_history(out / "run"),
        comparisons=comparisons,
    )
    _summary(console, figures, comparisons, out, time.monotonic() - started)


def _dataset(path: Path) -> Dataset:
    if (path / "dataset.json").exists():
        return Dataset.open(path)
    return read_scenes(**_SIZES).write(path)


def _comparisons(model: Any, dataset: Dataset) -> list[Comparison]:
    """What the figures are read against: the captions' ambiguity above, an untrained model below."""
    names = dataset.image_names
    seed = int(dataset.image_source["seed"])
    tested = [scenes.sample_scene(seed, scenes.scene_index(names[row])) for row in dataset.indices("test")]
    ceilings = {language: scenes.ceiling(tested, language) for language in dataset.languages}
    best = {
        language: ((100 * found.image_to_text, None, None), (100 * found.text_to_image, None, None))
        for language, found in ceilings.items()
    }
    keras.utils.set_random_seed(0)
    untrained = type(model).from_config(model.get_config())
    untrained.build()
    blind = {language: recalls_of(found) for language, found in evaluate(untrained, dataset, "test").items()}
    return [Comparison("ceiling (the captions' ambiguity)", best), Comparison("untrained", blind)]


def _summary(
    console: Console,
    figures: Mapping[str, RetrievalFigures],
    comparisons: list[Comparison],
    out: Path,
    seconds: float,
) -> None:
    console.print(figures_table(figures, title="Test split, retrieval in percent"))
    chance = 100 / _SIZES["test"]
    for language, found in figures.items():
        parts = [f"model {found.i2t.r1:.1f} / {found.t2i.r1:.1f}"]
        parts += [
            f"{row.name} {row.recalls[language][0][0]:.1f} / {row.recalls[language][1][0]:.1f}" for row in comparisons
        ]
        name = LANGUAGE_NAMES.get(language, language)
        console.print(
            f"{name} R@1, image to text / text to image: {'; '.join(parts)}; chance {chance:.1f}", highlight=False
        )
    folder = shlex.quote(str(out))
    console.print(
        f"\nDone in {seconds:.0f} s. Open {folder}/report.html. Next, with your own photos and a table of captions:",
        soft_wrap=True,
    )
    for line in (
        "vse-zoo prepare folder data/mine --images PHOTOS --captions captions.csv   # columns: image, caption",
        "vse-zoo features data/mine",
        "vse-zoo train context_attention --data data/mine --out runs/mine",
        "vse-zoo evaluate runs/mine --data data/mine --split test",
    ):
        console.print(f"  {line}", highlight=False, markup=False, soft_wrap=True)
