"""Regularised linear CCA between pooled image features and TF-IDF words: the row every network has to beat.

    python recipes/linear_cca.py --data flickr8k/

Image view: mean over the regions, standardised on the training split. Text view: L2-normalised TF-IDF of words that
occur in at least 4 training captions. One row for each (image, caption) pair; C_xx + 0.3·I and C_yy + 0.001·I; 400
directions, each weighted by its canonical correlation; cosine. Each language is fitted on its own, and evaluated on the
images that have captions in it. (Weighted directions and cosine: Gong et al., "A multi-view embedding space", 2014.)
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from scipy.linalg import cholesky, eigh, solve_triangular
from sklearn.feature_extraction.text import TfidfVectorizer

from vse_zoo.cli import console_errors
from vse_zoo.data import Dataset, pooled_regions
from vse_zoo.evaluation import RetrievalFigures, evaluate_retrieval, figures_as_dict
from vse_zoo.evaluation.tables import LANGUAGE_NAMES, markdown_table, recalls
from vse_zoo.files import write_json

MIN_COUNT, IMAGE_RIDGE, TEXT_RIDGE, DIRECTIONS = 4, 0.3, 1e-3, 400


class LinearCCA:
    """Two linear maps into a common space; `image` and `text` give unit rows."""

    def __init__(self, images: np.ndarray, sentences: list[str], owners: np.ndarray) -> None:
        self.mean, self.scale = images.mean(0), images.std(0) + 1e-8
        self.tfidf = TfidfVectorizer(min_df=MIN_COUNT)
        x, y = self._standardised(images)[owners], self.tfidf.fit_transform(sentences)
        n = len(sentences)
        self.x_mean, self.y_mean = x.mean(0), np.asarray(y.mean(0)).ravel()
        x -= self.x_mean
        c_xx = x.T @ x / n + IMAGE_RIDGE * np.eye(x.shape[1])
        c_yy = (y.T @ y).toarray() / n - np.outer(self.y_mean, self.y_mean) + TEXT_RIDGE * np.eye(y.shape[1])
        l_x, l_y = cholesky(c_xx, lower=True), cholesky(c_yy, lower=True)
        # The singular values of L_x⁻¹ C_xy L_y⁻ᵀ are the correlations (x is centred, so y needn't be).
        left = solve_triangular(l_x, (y.T @ x).T / n, lower=True)
        whitened = solve_triangular(l_y, left.T, lower=True).T
        squares, u = eigh(whitened @ whitened.T)
        u = u[:, ::-1][:, :DIRECTIONS]
        self.correlations = np.sqrt(np.maximum(squares[::-1][:DIRECTIONS], 1e-12))
        v = whitened.T @ u / self.correlations
        self.x_map = solve_triangular(l_x.T, u) * self.correlations
        self.y_map = solve_triangular(l_y.T, v) * self.correlations

    def _standardised(self, images: np.ndarray) -> np.ndarray:
        return (images - self.mean) / self.scale

    def image(self, images: np.ndarray) -> np.ndarray:
        """(N, D) pooled features to (N, directions)."""
        return unit((self._standardised(images) - self.x_mean) @ self.x_map)

    def text(self, sentences: list[str]) -> np.ndarray:
        """N sentences to (N, directions)."""
        return unit(self.tfidf.transform(sentences) @ self.y_map - self.y_mean @ self.y_map)


def unit(rows: np.ndarray) -> np.ndarray:
    """Rows of length 1; a zero row stays zero."""
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)


def figures(dataset: Dataset, features: np.ndarray, language: str, splits: list[str]) -> dict[str, RetrievalFigures]:
    """Fits on the training split and evaluates on the others."""
    sentences, rows = dataset.captions("train", language)
    images, owners = np.unique(rows, return_inverse=True)
    cca = LinearCCA(features[images], sentences, owners)
    found = {}
    for split in splits:
        sentences, rows = dataset.captions(split, language)
        images, owners = np.unique(rows, return_inverse=True)
        found[split] = evaluate_retrieval(cca.image(features[images]), cca.text(sentences), owners)
    return found


def main(
    data: Annotated[Path, typer.Option(help="Dataset folder with region features.")],
    splits: Annotated[list[str], typer.Option("--split", help="Splits to evaluate.")] = ["dev", "test"],  # noqa: B006
    out: Annotated[Path | None, typer.Option(help="Write the figures to this JSON file.")] = None,
) -> None:
    """Fits linear CCA for each language and prints a table of R@1/5/10 in percent."""
    dataset = Dataset.open(data)
    started = time.perf_counter()
    features = pooled_regions(dataset, np.arange(len(dataset))).astype(np.float64)
    found = {language: figures(dataset, features, language, splits) for language in dataset.languages}
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
