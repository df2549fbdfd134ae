"""Train multi-head attention with diversity (Huang et al., EMNLP 2019) on a dataset folder.

    python recipes/context_attention.py --data data/flickr8k --out runs/flickr8k --config flickr8k
    python recipes/context_attention.py --data data/flickr8k --out runs/flickr8k --config flickr8k --resume

Configurations are the files in recipes/configs/context_attention/, or any path to a TOML file.
"""

from pathlib import Path
from typing import Annotated

import keras
import typer

from vse_zoo.cli import console_errors
from vse_zoo.data import Dataset
from vse_zoo.models import ContextAttentionVSE
from vse_zoo.training import ContextAttentionConfig, DevRetrieval, Run, TextInputs, load_config, strategy_scope

CONFIGS = Path(__file__).parent / "configs" / "context_attention"


def train(
    settings: ContextAttentionConfig,
    data: Path,
    out: Path,
    resume: bool,
    folder: Path = CONFIGS,
    strategy: str = "none",
) -> Run:
    """Trains as the configuration says, relative paths starting at ``folder``; the run that holds the best epoch."""
    sizes, epochs = settings.model, settings.train.epochs
    dataset = Dataset.open(data)
    with strategy_scope(strategy), settings.train.policy():
        run = Run(out, settings, dataset, resume)
        keras.utils.set_random_seed(settings.train.seed)

        text = TextInputs.prepare(settings, dataset, folder)
        batches = settings.train.batches(dataset, text.preprocessor.ragged, text.states)
        model = ContextAttentionVSE(
            text.preprocessor,
            dataset.region_dim,
            **{**sizes.model_dump(), **text.arguments},
            ranking_loss=settings.ranking.loss(),
            diversity_loss=settings.diversity.loss(),
        )
        model.build()
        model.image_encoder.adapt(*dataset.regions(dataset.indices("train")[:2000]))
        if not run.begun:
            text.start(model, dataset, out)
        model.compile(settings.optimizer.optimizer(batches.steps_per_epoch, epochs), jit_compile=False)
        run.restore(model)

    with run.interruptible(model):
        model.fit(batches, initial_epoch=run.epoch, epochs=epochs, callbacks=run.callbacks(DevRetrieval(dataset)))
    return run


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
    settings = load_config(path, ContextAttentionConfig, seed=seed, epochs=epochs)
    run = train(settings, data, out, resume, path.parent, strategy)
    print(f"The best model is in {run.best}. Next: vse-zoo evaluate {out} --data {data} --split test")


if __name__ == "__main__":
    with console_errors():
        typer.run(main)
