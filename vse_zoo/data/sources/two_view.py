"""Two views of one's own: arrays in an .npz or .mat file (XRMB's field names too), or pairs of .npy files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

from vse_zoo.data.npy import open_npy
from vse_zoo.data.sources import TwoViewSource, source
from vse_zoo.data.two_view.array_files import ArrayFile, Matrix
from vse_zoo.errors import DataError, located

__all__ = ["read_two_view"]

Pair = tuple[Matrix, Matrix]

# Our names, and those of the XRMB files of Wang et al. (ICML 2015), which hold one view each.
_FIELDS = {
    "train": (("x_train", "y_train"), ("X1", "X2")),
    "dev": (("x_dev", "y_dev"), ("XV1", "XV2")),
    "test": (("x_test", "y_test"), ("XTe1", "XTe2")),
}
_EXPECTED = "one pair of arrays a split, named " + ", ".join(
    " or ".join(" and ".join(pair) for pair in pairs) for pairs in _FIELDS.values()
)
_LATER = "Give both views of each split, each once, and the training split at least."


@source("two_view")
def read_two_view(
    file: Annotated[
        list[Path] | None,
        ".npz or .mat with arrays x_train, y_train, x_dev, … or X1, X2, XV1, …; repeat it if they are in several.",
    ] = None,
    train_x: Annotated[Path | None, "Instead of --file: a .npy file of the first view."] = None,
    train_y: Annotated[Path | None, "A .npy file of the second view; row n belongs to row n of the first."] = None,
    dev_x: Annotated[Path | None, "As --train-x, for choices."] = None,
    dev_y: Annotated[Path | None, "As --train-y, for choices."] = None,
    test_x: Annotated[Path | None, "As --train-x, for the final figures."] = None,
    test_y: Annotated[Path | None, "As --train-y, for the final figures."] = None,
    dev_rows: Annotated[int, "Take so many last rows of train as dev, where the files hold no dev split."] = 0,
    name: Annotated[str, "Name of the data."] = "two_view",
) -> TwoViewSource:
    """Two matrices a split, whose rows belong together; row n of one to row n of the other.

    Example: vse-zoo prepare two_view data/mine --file views.npz --dev-rows 1000
    """
    files = {"train": (train_x, train_y), "dev": (dev_x, dev_y), "test": (test_x, test_y)}
    arrays = [path for pair in files.values() for path in pair if path is not None]
    if bool(file) == bool(arrays):
        raise DataError("two_view: expected either --file, or .npy files by --train-x, --train-y and so on.")
    splits = _named([ArrayFile(path) for path in file]) if file else _pairs(files)
    paths = file or arrays
    if dev_rows:
        splits = _with_dev(paths[0], splits, dev_rows)
    origin = f"Read from {', '.join(path.name for path in paths)}." + (
        f" dev is the last {dev_rows} rows of train." if dev_rows else ""
    )
    notes = [f"There is no {split} split." for split in _FIELDS if split not in splits]
    if "dev" not in splits:
        notes.append("Choices need a dev split: see --dev-rows.")
    return TwoViewSource(name, splits, origin, tuple(notes))


def _named(files: Sequence[ArrayFile]) -> dict[str, Pair]:
    """The pairs that the files hold together, by the names of their arrays."""
    place = ", ".join(str(file.path) for file in files)
    listed = ", ".join(name for file in files for name in file.names) or "no array"
    splits: dict[str, Pair] = {}
    for split, choices in _FIELDS.items():
        for pair in choices:
            holders = [[file for file in files if name in file.names] for name in pair]
            if not any(holders):
                continue
            if split in splits or [len(holder) for holder in holders] != [1, 1]:
                raise DataError(located(place, f"found {listed}, expected {_EXPECTED}.", field=split, do=_LATER))
            x, y = (_rows(file.path, file.read(name), name) for (file,), name in zip(holders, pair, strict=True))
            splits[split] = x, y
    if "train" not in splits:
        raise DataError(located(place, f"found {listed}, expected {_EXPECTED}.", field="train", do=_LATER))
    return splits


def _pairs(files: Mapping[str, tuple[Path | None, Path | None]]) -> dict[str, Pair]:
    """The pairs of .npy files, mapped into memory."""
    splits: dict[str, Pair] = {}
    for split, (x, y) in files.items():
        if x is not None and y is not None:
            splits[split] = _rows(x, open_npy(x)), _rows(y, open_npy(y))
        elif x is not None or y is not None or split == "train":
            raise DataError(f"two_view: expected both --{split}-x and --{split}-y. {_LATER}")
    return splits


def _rows(path: Path, array: Matrix, name: str | None = None) -> Matrix:
    if len(array.shape) != 2:
        raise DataError(located(path, f"found shape {array.shape}, expected rows of numbers (N, D).", field=name))
    return array


def _with_dev(path: Path, splits: dict[str, Pair], dev_rows: int) -> dict[str, Pair]:
    """The last rows of train as the dev split."""
    if "dev" in splits:
        raise DataError(located(path, "there is a dev split already.", field="dev_rows", do="Leave --dev-rows out."))
    x, y = splits["train"]
    rows = x.shape[0]
    if not 0 < dev_rows < rows:
        raise DataError(located(path, f"found {dev_rows}, expected 1 to {rows - 1}.", field="dev_rows"))
    if rows != y.shape[0]:
        raise DataError(
            located(path, f"found {rows} rows of x and {y.shape[0]} of y, expected as many.", field="train")
        )
    cut = rows - dev_rows
    return {"train": (x[:cut], y[:cut]), "dev": (x[cut:], y[cut:])} | {k: v for k, v in splits.items() if k != "train"}
