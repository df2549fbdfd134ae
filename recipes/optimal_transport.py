"""Train cross-domain alignment with optimal transport (Yuan et al., BMVC 2020) on a dataset folder.

    python recipes/optimal_transport.py --data data/flickr8k --out runs/flickr8k --config flickr8k
    python recipes/optimal_transport.py --data data/flickr8k --out runs/flickr8k --config flickr8k --resume

Configurations are the files in recipes/configs/optimal_transport/, or any path to a TOML file.
"""

from pathlib import Path
from typing import Annotated

import keras
import typer

from vse_zoo.cli import console_errors
from vse_zoo.data import Dataset
from vse_zoo.models import TransportVSE
from vse_zoo.training import DevRetrieval, OptimalTransportConfig, Run, load_config, strategy_scope

CONFIGS = Path(__file__).parent / "configs" / "optimal_transport"


def main(
    data: Annotated[Path, typer.Option(help="Dataset folder with region features.")],
    out: Annotated[Path, typer.Option(help="Run folder to make.")],
    config: Annotated[str, typer.Option(help="Name of a configuration, or path of a TOML file.")] = "flickr8k",
    seed: Annotated[int | None, typer.Option(help="Instead of the configuration's seed.")] = None,
    epochs: Annotated[int | None, typer.Option(help="Instead of the configuration's number of epochs.")] = None,
    resume: Annotated[bool, typer.Option(help="Continue the run in --out after its last finished epoch.")] = False,
    strategy: Annotated[str, typer.Option(help="none, mirrored (this machine's GPUs) or multi_worker.")] = "none",
) -> None:
    """Train, keep the best epoch by dev rsum as a preset in OUT/best."""
    path = Path(config) if config.endswith(".toml") else CONFIGS / f"{config}.toml"
    settings = load_config(path, OptimalTransportConfig, seed=seed, epochs=epochs)
    train, sizes = settings.train, settings.model
    dataset = Dataset.open(data)
    with strategy_scope(strategy), train.policy():
        run = Run(out, settings, dataset, resume)
        keras.utils.set_random_seed(train.seed)

        preprocessor, batches = train.data(dataset)
        model = TransportVSE(
            preprocessor,
            dataset.region_dim,
            **sizes.model_dump(),
            ranking_loss=settings.ranking.loss(),
        )
        model.build()
        model.image_encoder.adapt(*dataset.regions(dataset.indices("train")[:2000]))
        model.compile(settings.optimizer.optimizer(batches.steps_per_epoch, train.epochs), jit_compile=False)
        run.restore(model)

    with run.interruptible(model):
        model.fit(batches, initial_epoch=run.epoch, epochs=train.epochs, callbacks=run.callbacks(DevRetrieval(dataset)))
    print(f"The best model is in {run.best}. Next: vse-zoo evaluate {out} --data {data} --split test")


if __name__ == "__main__":
    with console_errors():
        typer.run(main)
