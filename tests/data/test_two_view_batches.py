"""Batches of two views: pairs stay together, every row at most once an epoch, any epoch can be resumed."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from vse_zoo.data import TwoViewBatches, TwoViewData, write_two_view
from vse_zoo.data.two_view import batches as batches_module
from vse_zoo.errors import DataError

ROWS, BATCH = 23, 4


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> TwoViewData:
    """Row n holds n in x and −n in y."""
    numbers = np.arange(ROWS, dtype="float16")[:, None]
    path = tmp_path_factory.mktemp("batches") / "data"
    splits = {"train": (numbers * np.ones(3), -numbers * np.ones(2, "float16"))}
    return write_two_view(path, splits, name="numbers", origin="")


def rows(batch: dict[str, np.ndarray]) -> list[int]:
    x, y = np.asarray(batch["x"]), np.asarray(batch["y"])
    assert (x.shape[1:], y.shape[1:], x.dtype, y.dtype) == ((3,), (2,), np.float32, np.float32)
    np.testing.assert_array_equal(x[:, :1], -y[:, :1])
    return x[:, 0].astype(int).tolist()


def test_an_epoch_holds_full_batches_of_different_rows(data: TwoViewData) -> None:
    batches = TwoViewBatches(data, "train", BATCH, seed=3)
    assert batches.steps_per_epoch == 5
    epochs = [[rows(batches.batch(5 * epoch + step)) for step in range(5)] for epoch in range(60)]
    for epoch in epochs:
        assert [len(batch) for batch in epoch] == [BATCH] * 5
        assert len({row for batch in epoch for row in batch}) == 20
    assert epochs[0] != epochs[1]
    seen = np.bincount(np.ravel(epochs), minlength=ROWS)
    assert seen.min() > 60 * 20 / ROWS / 2, "what is left over in an epoch has its turn in others"


@pytest.mark.parametrize("block", [1, 2, 7, 16])
def test_tensorflow_reads_the_same_batches_from_any_epoch_on(
    data: TwoViewData, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    monkeypatch.setattr(batches_module, "_BLOCK", block)
    batches = TwoViewBatches(data, "train", BATCH, seed=3)
    again = TwoViewBatches(data, "train", BATCH, seed=3)
    for start in (0, 2):
        read = [rows(batch) for batch in islice(batches.dataset(start), 13)]
        assert read == [rows(again.batch(5 * start + step)) for step in range(13)]
    spec = batches.dataset().element_spec
    assert (spec["x"].shape, spec["y"].shape) == ((BATCH, 3), (BATCH, 2))


def test_another_seed_gives_another_order(data: TwoViewData) -> None:
    first, second = (TwoViewBatches(data, "train", BATCH, seed).batch(0) for seed in (0, 1))
    assert rows(first) != rows(second)


def test_a_split_smaller_than_a_batch_is_one_batch(data: TwoViewData) -> None:
    batches = TwoViewBatches(data, "train", 128)
    assert (batches.batch_size, batches.steps_per_epoch) == (ROWS, 1)
    assert sorted(rows(batches.batch(4))) == list(range(ROWS))


def test_an_unknown_split_is_refused(data: TwoViewData) -> None:
    with pytest.raises(DataError, match="split: found 'dev'"):
        TwoViewBatches(data, "dev")
