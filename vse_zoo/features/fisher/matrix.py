"""Fisher vectors of many sentences in one .npy file."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from vse_zoo.errors import DataError, located
from vse_zoo.features.fisher.layer import FisherVectors
from vse_zoo.files import replacing
from vse_zoo.progress import progress

__all__ = ["fisher_matrix"]


def fisher_matrix(
    sentences: Sequence[Sequence[int]] | np.ndarray,
    layer: FisherVectors,
    path: str | Path,
    *,
    chunk: int = 512,
    dtype: str = "float16",
) -> np.memmap:
    """Writes the Fisher vectors of all sentences to a .npy file, whole or not at all.

    Args:
        sentences: N sentences as word ids: a list of lists of any lengths, or (N, T) padded with 0.
        layer: an adapted layer.
        path: the file to write, N·F·2 bytes in float16.
        chunk: sentences in memory at a time.
        dtype: "float16" (relative rounding error 5e-4 at most) or "float32".

    Returns:
        (N, F), memory-mapped, read-only.

    Raises:
        DataError: there are no sentences, or the disk has too little space.
    """
    path, count = Path(path), len(sentences)
    if not count:
        raise DataError(located(path, "there are no sentences to compute Fisher vectors of."))
    path.parent.mkdir(parents=True, exist_ok=True)
    needed, free = count * layer.size * np.dtype(dtype).itemsize, shutil.disk_usage(path.parent).free
    if free < needed:
        problem = f"needs {needed / 1e9:.2f} GB, and {free / 1e9:.2f} GB are free."
        raise DataError(located(path, problem, do="Free some space or write elsewhere."))
    with replacing(path) as temporary, temporary.open("wb") as file, progress("Fisher vectors", count) as bar:
        fields = {"descr": np.dtype(dtype).str, "fortran_order": False, "shape": (count, layer.size)}
        np.lib.format.write_array_header_1_0(file, fields)
        for start in range(0, count, chunk):
            rows = np.asarray(layer(_padded(sentences[start : start + chunk])))
            file.write(rows.astype(dtype).data)
            bar.advance(len(rows))
    return np.lib.format.open_memmap(path, mode="r")


def _padded(sentences: Sequence[Sequence[int]] | np.ndarray) -> np.ndarray:
    """(N, T) int32, padded with 0 to the longest."""
    if isinstance(sentences, np.ndarray):
        return sentences.astype(np.int32)
    ids = np.zeros((len(sentences), max(1, *map(len, sentences), 1)), np.int32)
    for row, sentence in enumerate(sentences):
        ids[row, : len(sentence)] = sentence
    return ids
