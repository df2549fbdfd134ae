"""Measure what the scores of a preset mean, for photo search: how often a result at a score was right.

    python recipes/calibrate.py saved_models/context_attention_flickr8k_en_de --data data/flickr8k --split dev

It writes assets/calibration.json into the preset or the run's best model, and the hashes of its files anew.
"""

from pathlib import Path
from typing import Annotated

import typer

from vse_zoo import presets
from vse_zoo.cli import console_errors
from vse_zoo.data import Dataset
from vse_zoo.evaluation.tables import LANGUAGE_NAMES, markdown_table
from vse_zoo.search.calibration import Curve
from vse_zoo.search.judging import judged_queries
from vse_zoo.search.measuring import calibrate, calibration_error, measure

SHOWN = (0.05, 0.1, 0.25, 0.5, 0.75)


def reached(curve: Curve, share: float) -> str:
    """The least score at which that share is right."""
    return next((f"{s:.3f}" for s, p in zip(curve.scores, curve.shares, strict=True) if p >= share), "–")


def main(
    preset: Annotated[str, typer.Argument(help="Preset or run folder, or built-in name.")],
    data: Annotated[Path, typer.Option(help="Dataset folder with the region features that it was trained on.")],
    split: Annotated[str, typer.Option(help="Split to measure on; not the one that it was trained on.")] = "dev",
    check: Annotated[str | None, typer.Option(help="Another split, to see how well the figures hold there.")] = None,
) -> None:
    """Write assets/calibration.json, and print from which score on results are right how often."""
    dataset, model, folder = Dataset.open(data), presets.load(preset), presets.resolve(preset)
    found = calibrate(model, dataset, split)
    found.write(folder)
    presets.record_hashes(folder)
    rows = []
    for language, curves in found.curves.items():
        figures, name = found.figures[language], LANGUAGE_NAMES.get(language, language)
        error = f"{figures['calibration_error']:.3f}"
        if check:
            queries = judged_queries(dataset, check, language, model.preprocessor)
            measured = measure(model, dataset, check, language, queries)
            error += f"; {check} {calibration_error(curves, measured):.3f}"
        for length, curve in curves.items():
            own = [f"{figures['queries']:,}", f"{figures['first_right']:.1%}", error] if length == "short" else [""] * 3
            rows.append([f"{name}, {length}", *own, *(reached(curve, share) for share in SHOWN)])
    header = [split, "queries", "first right", "calibration error", *(f"right {share:.0%} from" for share in SHOWN)]
    print(markdown_table(header, rows))
    print(f"\nWritten to {folder}: commit it with metadata.json.")


if __name__ == "__main__":
    with console_errors():
        typer.run(main)
