"""Train 2-Way Nets (Eisenschtat and Wolf, CVPR 2017) on two matrices, or on pictures and sentences.

    python recipes/two_way_net.py --data data/mnist_halves --out runs/mnist --config mnist
    python recipes/two_way_net.py --data data/flickr8k --out runs/flickr8k --config flickr8k_zoo --resume

A configuration with a [sentences] section takes a dataset folder with region features, any other a two-view folder.
Configurations are the files in recipes/configs/two_way_net/, or any path to a TOML file.
"""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import keras
import typer

from vse_zoo.cli import console_errors
from vse_zoo.data import Dataset, PairBatches, TwoViewBatches, TwoViewData, pooled_regions
from vse_zoo.features.fisher import FisherVectors, fisher_matrix, fit_fisher_vectors, vectors_of_words
from vse_zoo.models import TwoWayNet
from vse_zoo.preprocessing import TextPreprocessor
from vse_zoo.training import DevCorrelation, DevRetrieval, Run, TwoWayNetConfig, load_config, strategy_scope

SAMPLE = 30_000
CONFIGS = Path(__file__).parent / "configs" / "two_way_net"


def of_matrices(settings: TwoWayNetConfig, data: TwoViewData) -> tuple[TwoWayNet, TwoViewBatches, DevCorrelation]:
    """The network, batches and dev figures of a two-view folder."""
    batches = TwoViewBatches(data, "train", settings.train.batch_size, seed=settings.train.seed)
    model = TwoWayNet(x_dim=data.x_dim, y_dim=data.y_dim, **settings.network())
    model.build()
    return model, batches, DevCorrelation(data, settings.train.monitor)


def of_sentences(settings: TwoWayNetConfig, dataset: Dataset, fit: bool) -> tuple[TwoWayNet, PairBatches, DevRetrieval]:
    """The same for a dataset folder; ``fit``: fit the Fisher vectors, which a resumed run has already."""
    text = settings.sentences
    assert text is not None
    captions = dataset.captions("train", text.language)[0]
    preprocessor = TextPreprocessor.from_captions({text.language: captions}, text.minimum_count, text.max_length)
    words = preprocessor.vocabulary(text.language)
    sentences = FisherVectors(len(words), text.word_dim, text.components)
    model = TwoWayNet(
        x_dim=dataset.region_dim,
        y_dim=sentences.size,
        preprocessor=preprocessor,
        sentences=sentences,
        **settings.network(),
    )
    model.build()
    if fit:
        ids = preprocessor.ragged(captions, text.language).to_list()
        vectors = vectors_of_words(words, ids, text.word_dim, text.word_vectors)
        print(vectors.coverage(["", "", *words[2:]]))
        fit_fisher_vectors(sentences, vectors, ids, settings.train.seed)
        sample = ids[:: max(1, len(ids) // SAMPLE)]
        with TemporaryDirectory() as folder:
            y = fisher_matrix(sample, sentences, Path(folder) / "fisher.npy")
            model.adapt(pooled_regions(dataset, dataset.indices("train")), y)
    batches = PairBatches(
        dataset, "train", preprocessor.ragged, [text.language], settings.train.batch_size, seed=settings.train.seed
    )
    return model, batches, DevRetrieval(dataset)


def train(settings: TwoWayNetConfig, data: Path, out: Path, resume: bool, strategy: str = "none") -> Run:
    """Trains as the configuration says; the run that holds the best epoch."""
    opened = Dataset.open(data) if settings.sentences else TwoViewData.open(data)
    with strategy_scope(strategy), settings.train.policy():
        run = Run(out, settings, opened, resume)
        keras.utils.set_random_seed(settings.train.seed)

        if isinstance(opened, TwoViewData):
            model, batches, dev = of_matrices(settings, opened)
        else:
            model, batches, dev = of_sentences(settings, opened, fit=not run.begun)
        steps = batches.steps_per_epoch
        # XLA can't compile Fisher vectors, whose number of words is not known beforehand, nor steps of replicas.
        compiled = settings.sentences is None and strategy == "none"
        model.compile(
            settings.optimizer.optimizer(steps, settings.train.epochs),
            jit_compile=compiled,
            # Several short steps a call, in whole calls an epoch.
            steps_per_execution=max(n for n in range(1, 21) if steps % n == 0) if compiled else 1,
        )
        run.restore(model)

    with run.interruptible(model):
        model.fit(batches, initial_epoch=run.epoch, epochs=settings.train.epochs, callbacks=run.callbacks(dev))
    return run


def main(
    data: Annotated[Path, typer.Option(help="Two-view folder, or dataset folder with region features.")],
    out: Annotated[Path, typer.Option(help="Run folder to make.")],
    config: Annotated[str, typer.Option(help="Name of a configuration, or path of a TOML file.")] = "mnist",
    seed: Annotated[int | None, typer.Option(help="Instead of the configuration's seed.")] = None,
    epochs: Annotated[int | None, typer.Option(help="Instead of the configuration's number of epochs.")] = None,
    resume: Annotated[bool, typer.Option(help="Continue the run in --out after its last finished epoch.")] = False,
    strategy: Annotated[str, typer.Option(help="none, mirrored (this machine's GPUs) or multi_worker.")] = "none",
) -> None:
    """Train, keep the best epoch by its dev figure as a preset in OUT/best."""
    path = Path(config) if config.endswith(".toml") else CONFIGS / f"{config}.toml"
    run = train(load_config(path, TwoWayNetConfig, seed=seed, epochs=epochs), data, out, resume, strategy)
    print(f"The best model is in {run.best}. Next: vse-zoo evaluate {out} --data {data} --split test")


if __name__ == "__main__":
    with console_errors():
        typer.run(main)
