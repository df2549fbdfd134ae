"""Makes a preset of the best of several runs that differ in their seed, with the test figures of all of them.

    python recipes/ship_preset.py two_way_net_scenes runs/scenes-0 runs/scenes-1 runs/scenes-2 --data data/scenes

The run with the best dev figure is copied to saved_models/NAME. Its metadata.json gets its figures on the test split
under "test", and those of every run under "seeds". Rows for the card are printed; the card is written by hand.
"""

import shutil
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from vse_zoo import presets
from vse_zoo.cli import console_errors
from vse_zoo.errors import DataError, located
from vse_zoo.files import write_json
from vse_zoo.presets.layout import METADATA, read_by_loading
from vse_zoo.registry import saved_models
from vse_zoo.workflow import evaluate_model

RANKS = ("r1", "r5", "r10")


def dev_figure(record: dict[str, Any]) -> float:
    """The dev figure that chose a run's epoch."""
    dev = record["dev"]
    return float(dev["val_rsum"] if "val_rsum" in dev else dev[f"val_{record['config']['train']['monitor']}"])


def copy(source: Path, target: Path) -> None:
    """Copies the files that make the model; a card that is there stays."""
    for name in read_by_loading(source):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / name, target / name)


def spread(values: list[float], digits: int) -> str:
    """Mean ± sample standard deviation; of one value, the value."""
    mean = f"{np.mean(values):.{digits}f}"
    return mean if len(values) == 1 else f"{mean} ± {np.std(values, ddof=1):.{digits}f}"


def rows(tests: list[dict[str, Any]]) -> list[str]:
    """Rows for the card: a language's R@1/5/10 both ways, or the figures of two views."""
    if "languages" not in tests[0]:
        return [" | ".join(spread([test[name] for test in tests], 2) for name in tests[0] if name != "split")]
    found = []
    for language in tests[0]["languages"]:
        sides = [[test["languages"][language][side] for test in tests] for side in ("i2t", "t2i")]
        cells = [" / ".join(spread([each[rank] for each in side], 1) for rank in RANKS) for side in sides]
        found.append(" | ".join([language, *cells]))
    return found


def main(
    name: Annotated[str, typer.Argument(help="Of the preset to make or to replace.")],
    runs: Annotated[list[Path], typer.Argument(help="Run folders.")],
    data: Annotated[Path, typer.Option(help="Dataset folder with region features, or two-view folder.")],
) -> None:
    """Evaluate the runs on the test split, and ship the best by dev."""
    records = [presets.metadata(run) for run in runs]
    seeds = [str(record["config"]["train"]["seed"]) for record in records]
    if len(set(seeds)) != len(seeds):
        raise DataError(located(str(runs[0].parent), f"found seeds {', '.join(seeds)}, expected different ones."))
    tests = [evaluate_model(presets.load(run), str(run), data).values for run in runs]
    best = max(range(len(runs)), key=lambda number: dev_figure(records[number]))
    folder = saved_models() / name
    copy(presets.resolve(runs[best]), folder)
    recorded = {**records[best], "test": tests[best], "seeds": dict(zip(seeds, tests, strict=True))}
    write_json(folder / METADATA, recorded)
    presets.record_hashes(folder)
    print(f"{folder}: seed {seeds[best]}")
    print("\n".join([*rows([tests[best]]), *rows(tests)]))
    if (folder / "1").is_dir():
        print(f"Its SavedModel is that of the old weights. Next: python recipes/export_presets.py {name}")


if __name__ == "__main__":
    with console_errors():
        typer.run(main)
