"""Teach a trained ContextAttentionVSE one more language; all that it knows stays as it is, to the last bit.

    python recipes/add_language.py --data data/flickr8k_fr --out runs/french --config flickr8k_fr

Configurations are the files in recipes/configs/add_language/, or any path to a TOML file. The dataset has captions in
the model's languages and in the new one; no image needs them all.
"""

from pathlib import Path
from typing import Annotated

import keras
import typer

from vse_zoo import presets
from vse_zoo.cli import console_errors
from vse_zoo.data import Dataset, PairBatches
from vse_zoo.errors import ConfigError
from vse_zoo.models import ContextAttentionVSE
from vse_zoo.models.context_attention import extend_language
from vse_zoo.training import AddLanguageConfig, DevRetrieval, Run, load_config, strategy_scope

CONFIGS = Path(__file__).parent / "configs" / "add_language"


def extended(settings: AddLanguageConfig, dataset: Dataset) -> ContextAttentionVSE:
    """The trained model with an untrained encoder for the new language."""
    language = settings.language
    model = presets.load(language.model)
    if not isinstance(model, ContextAttentionVSE):
        raise ConfigError(f"language.model: found a {type(model).__name__}, expected a ContextAttentionVSE.")
    if language.name in model.languages:
        raise ConfigError(f"language.name: found {language.name!r}, which {language.model} knows; expected a new one.")
    captions, _ = dataset.captions("train", language.name)
    return extend_language(model, language.name, captions, language.minimum_count)


def main(
    data: Annotated[Path, typer.Option(help="Dataset folder with region features.")],
    out: Annotated[Path, typer.Option(help="Run folder to make.")],
    config: Annotated[str, typer.Option(help="Name of a configuration, or path of a TOML file.")] = "flickr8k_fr",
    seed: Annotated[int | None, typer.Option(help="Instead of the configuration's seed.")] = None,
    epochs: Annotated[int | None, typer.Option(help="Instead of the configuration's number of epochs.")] = None,
    resume: Annotated[bool, typer.Option(help="Continue the run in --out after its last finished epoch.")] = False,
    strategy: Annotated[str, typer.Option(help="none, mirrored (this machine's GPUs) or multi_worker.")] = "none",
) -> None:
    """Train the new language's encoder, keep the best epoch by dev rsum as a preset in OUT/best."""
    path = Path(config) if config.endswith(".toml") else CONFIGS / f"{config}.toml"
    settings = load_config(path, AddLanguageConfig, seed=seed, epochs=epochs)
    train = settings.train
    dataset = Dataset.open(data)
    with strategy_scope(strategy):
        keras.utils.set_random_seed(train.seed)
        model = extended(settings, dataset)
        run = Run(out, settings, dataset, resume)

        # One of an image's captions an epoch: the new language has few, which all of the others' would repeat.
        tokenize = model.preprocessor.ragged
        batches = PairBatches(
            dataset, "train", tokenize, model.languages, train.batch_size, captions="one", seed=train.seed
        )
        model.compile(settings.optimizer.optimizer(batches.steps_per_epoch, train.epochs), jit_compile=False)
        run.restore(model)

    with run.interruptible(model):
        model.fit(batches, initial_epoch=run.epoch, epochs=train.epochs, callbacks=run.callbacks(DevRetrieval(dataset)))
    print(f"The best model is in {run.best}. Next: vse-zoo evaluate {out} --data {data} --split test")


if __name__ == "__main__":
    with console_errors():
        typer.run(main)
