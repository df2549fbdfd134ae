"""Regularised linear CCA between pooled image features and sentences: the row every network has to beat.

    python recipes/linear_cca.py --data data/flickr8k
    python recipes/linear_cca.py --data data/flickr8k --fisher two_way_net_flickr8k --text-ridge 1e-4 --directions 200

Image view: mean over the regions, standardised on the training split. Text view: L2-normalised TF-IDF of words that
occur in at least 4 training captions, or the Fisher vectors of a TwoWayNet. Each language is fitted on its own, and
evaluated on the images that have captions in it (`vse_zoo.evaluation.linear_cca`).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from sklearn.feature_extraction.text import TfidfVectorizer

from vse_zoo import presets
from vse_zoo.cli import console_errors
from vse_zoo.data import Dataset, pooled_regions
from vse_zoo.evaluation import RetrievalFigures, evaluate_retrieval, figures_as_dict
from vse_zoo.evaluation.linear_cca import LinearCCA
from vse_zoo.evaluation.tables import LANGUAGE_NAMES, markdown_table, recalls
from vse_zoo.files import write_json

MIN_COUNT = 4
Encode = Callable[[list[str]], Any]


def fisher_vectors(model: Any, language: str) -> Encode:
    """Sentences to the Fisher vectors that a TwoWayNet takes as its view y, (N, F) float32."""

    def encode(sentences: list[str]) -> np.ndarray:
        parts = [sentences[start : start + 512] for start in range(0, len(sentences), 512)]
        return np.concatenate([model.sentences(model.preprocessor(part, language)) for part in parts])

    return encode


def figures(
    dataset: Dataset, features: np.ndarray, language: str, splits: list[str], encode: Encode | None, **options: Any
) -> dict[str, RetrievalFigures]:
    """Fits on the training split and evaluates on the others; ``encode`` gives text features, TF-IDF by default."""
    sentences, rows = dataset.captions("train", language)
    encode = encode or TfidfVectorizer(min_df=MIN_COUNT).fit(sentences).transform
    images, owners = np.unique(rows, return_inverse=True)
    cca = LinearCCA(features[images], encode(sentences), owners, **options)
    found = {}
    for split in splits:
        sentences, rows = dataset.captions(split, language)
        images, owners = np.unique(rows, return_inverse=True)
        found[split] = evaluate_retrieval(cca.image(features[images]), cca.text(encode(sentences)), owners)
    return found


def main(
    data: Annotated[Path, typer.Option(help="Dataset folder with region features.")],
    splits: Annotated[list[str], typer.Option("--split", help="Splits to evaluate.")] = ["dev", "test"],  # noqa: B006
    out: Annotated[Path | None, typer.Option(help="Write the figures to this JSON file.")] = None,
    fisher: Annotated[str | None, typer.Option(help="A TwoWayNet whose Fisher vectors are the text view.")] = None,
    text_ridge: Annotated[float, typer.Option(help="Added to the variances of the text view.")] = 1e-3,
    directions: Annotated[int, typer.Option(help="Canonical directions that are kept.")] = 400,
) -> None:
    """Fits linear CCA for each language and prints a table of R@1/5/10 in percent."""
    dataset = Dataset.open(data)
    started = time.perf_counter()
    features = pooled_regions(dataset, np.arange(len(dataset))).astype(np.float64)
    model = presets.load(fisher) if fisher else None
    options = {"text_ridge": text_ridge, "directions": directions}
    found = {
        language: figures(
            dataset, features, language, splits, fisher_vectors(model, language) if model else None, **options
        )
        for language in (model.languages if model else dataset.languages)
    }
    header = ["", "images", *[f"{way} {split}" for split in splits for way in ("i2t", "t2i")]]
    rows = []
    for language, by_split in found.items():
        images = ", ".join(f"{split} {by_split[split].images:,}" for split in splits)
        cells = [recalls(way) for split in splits for way in (by_split[split].i2t, by_split[split].t2i)]
        rows.append([LANGUAGE_NAMES.get(language, language), images, *cells])
    print(markdown_table(header, rows))
    print(f"\n{time.perf_counter() - started:.0f} s")
    if out:
        write_json(
            out, [figures_as_dict({name: each[split] for name, each in found.items()}, split) for split in splits]
        )


if __name__ == "__main__":
    with console_errors():
        typer.run(main)
