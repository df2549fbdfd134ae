"""The ablation of 2-Way Nets (table 3 of the paper) on two matrices: one change at a time, several seeds, one table.

    python recipes/two_way_ablation.py --data data/mnist_halves --out runs/ablation --epochs 80 --seeds 3

Finished cells are kept, and an interrupted grid goes on where it stopped when the command is given again. The learning
rate is halved every quarter of the epochs, as it is in the paper's 80.
"""

from pathlib import Path
from typing import Annotated, Any

import typer
from two_way_net import CONFIGS, train

from vse_zoo import presets
from vse_zoo.cli import console_errors
from vse_zoo.data import TwoViewData
from vse_zoo.evaluation.correlation import evaluate_correlation
from vse_zoo.training import TwoWayNetConfig, load_config, run_grid

# Without batch normalisation the paper, too, had to lower the learning rate.
ROWS: dict[str, dict[str, Any]] = {
    "as published": {},
    "no batch normalisation": {"batch_norm": "none", "rate": 0.1},
    "batch normalisation before the activation": {"batch_norm": "before"},
    "ReLU": {"negative_slope": 0.0},
    "no 1/γ": {"gamma_strength": 0.0},
    "no decorrelation": {"decorrelation_weight": 0.0},
    "no L_h": {"mid_weight": 0.0},
    "ordinary dropout": {"tied_dropout": False},
    "no dropout": {"dropout": 0.0},
    "untied": {"tied": False},
}
COLUMNS = {
    "neuron": "neuron sum",
    "canonical": "canonical sum",
    "effective_rank": "effective rank",
    "directions": "directions for 90%",
    "variance": "variance",
}


def changed(settings: TwoWayNetConfig, changes: dict[str, Any], learning_rate: float) -> TwoWayNetConfig:
    """The configuration of one cell."""
    changes = dict(changes)
    optimizer: dict[str, Any] = {"step_epoch": max(1, settings.train.epochs // 4)}
    optimizer["learning_rate"] = learning_rate * changes.pop("rate", 1.0)
    return settings.model_copy(
        update={
            "model": settings.model.model_copy(update=changes),
            "optimizer": settings.optimizer.model_copy(update=optimizer),
        }
    )


def main(
    data: Annotated[Path, typer.Option(help="Two-view folder.")],
    out: Annotated[Path, typer.Option(help="Folder for the runs and the table.")],
    config: Annotated[str, typer.Option(help="Name of the configuration to change.")] = "mnist",
    epochs: Annotated[int, typer.Option(help="Of every run.")] = 80,
    seeds: Annotated[int, typer.Option(help="Runs of each row.")] = 3,
    learning_rate: Annotated[float, typer.Option(help="At the start; for fewer epochs a higher one.")] = 1e-4,
    split: Annotated[str, typer.Option(help="Split of the figures; the best epoch is chosen on dev.")] = "test",
) -> None:
    """Train every row of the ablation with several seeds, and write OUT/table.md."""

    def cell(row: str, seed: int, place: Path) -> dict[str, float]:
        settings = load_config(CONFIGS / f"{config}.toml", TwoWayNetConfig, seed=seed, epochs=epochs)
        run = train(changed(settings, ROWS[row], learning_rate), data, place, resume=True)
        return evaluate_correlation(presets.load(run.best), TwoViewData.open(data), split).as_dict()

    print(run_grid(list(ROWS), seeds, out, cell, COLUMNS, f"{split}.json"))


if __name__ == "__main__":
    with console_errors():
        typer.run(main)
