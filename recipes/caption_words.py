"""Learn word vectors from Multi30K's captions of pictures that a dataset folder does not hold, and put them into it.

    python recipes/caption_words.py data/flickr8k --texts data/multi30k
    vse-zoo train context_attention --config flickr8k_zoo --data data/flickr8k --out runs/flickr8k

Multi30K describes 29,000 training pictures five times in English and German each. Flickr8k has 5,500 of them; the words
of the others are of use without the pictures. Captions of the dataset's own dev and test pictures are left out. The
vectors of language g are in DATA/words.g.vec, in fastText's format; an interrupted command goes on where it stopped.
"""

from pathlib import Path
from typing import Annotated

import keras
import typer

from vse_zoo.cli import console_errors
from vse_zoo.data import Dataset
from vse_zoo.data.overlaps import flickr_id
from vse_zoo.data.sources.multi30k import descriptions
from vse_zoo.features.word_vectors import write_word_vectors
from vse_zoo.preprocessing import TextPreprocessor
from vse_zoo.training import Checkpoint, EpochSeeds
from vse_zoo.training.callbacks import epochs_done
from vse_zoo.training.caption_words import CaptionPairs, CaptionWords, Described


def captions(dataset: Dataset, texts: Path) -> Described:
    """Multi30K's training captions (task 2), but for those of the dataset's pictures outside its training split."""
    held = {flickr_id(dataset.image_names[row]) for split in ("dev", "test") for row in dataset.indices(split)}
    found = descriptions(texts, 2, dataset.languages)
    return [record.captions for key, record in found.items() if record.split == "train" and key not in held]


def main(
    data: Annotated[Path, typer.Argument(help="Dataset folder of Flickr pictures.")],
    texts: Annotated[Path, typer.Option(help="Multi30K's folder, with task2.")],
    dim: Annotated[int, typer.Option(help="Length of the vectors.")] = 512,
    epochs: Annotated[int, typer.Option(help="Passes over the described pictures.")] = 40,
    minimum_count: Annotated[int, typer.Option(help="Rarer words have no vector.")] = 2,
    seed: Annotated[int, typer.Option(help="Of order, draws and start.")] = 0,
) -> None:
    """Learn the vectors of all languages of the dataset, and write them into its folder."""
    dataset = Dataset.open(data)
    described = captions(dataset, texts)
    sentences = {name: [text for each in described for text in each.get(name, [])] for name in dataset.languages}
    counts = ", ".join(f"{len(texts):,} captions in {name}" for name, texts in sentences.items())
    print(f"{len(described):,} described pictures: {counts}.")

    keras.utils.set_random_seed(seed)
    preprocessor = TextPreprocessor.from_captions(sentences, minimum_count)
    pairs = CaptionPairs(described, preprocessor, seed=seed)
    model = CaptionWords(preprocessor, dim)
    model.build()
    steps = pairs.steps_per_epoch
    rate = keras.optimizers.schedules.CosineDecay(2e-3, steps * epochs)
    model.compile(keras.optimizers.Adam(rate), jit_compile=False)

    checkpoint = data / f"words-{dim}-{epochs}-{minimum_count}-{seed}.weights.h5"
    start = 0
    if checkpoint.exists():
        model.optimizer.build(model.trainable_variables)
        model.load_weights(checkpoint)
        start = epochs_done(checkpoint)
    callbacks = [EpochSeeds(seed), Checkpoint(checkpoint)]
    model.fit(
        pairs.dataset(start),
        steps_per_epoch=steps,
        initial_epoch=start,
        epochs=epochs,
        callbacks=callbacks,
        shuffle=False,
    )

    for language in model.languages:
        path = data / f"words.{language}.vec"
        write_word_vectors(path, ["", "", *preprocessor.vocabulary(language)[2:]], model.vectors(language))
        print(f"{path}: {len(preprocessor.vocabulary(language)) - 2:,} words")
    checkpoint.unlink()


if __name__ == "__main__":
    with console_errors():
        typer.run(main)
