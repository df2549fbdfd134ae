"""The ablation recipe: a cell is trained once, the table has a row for each change, a changed cell is what it says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from vse_zoo.data import write_two_view
from vse_zoo.training import TwoWayNetConfig


@pytest.fixture
def ablation(load_recipe: Callable[[str], ModuleType]) -> ModuleType:
    return load_recipe("two_way_ablation")


def test_every_row_of_the_papers_table_is_there_and_builds(ablation: ModuleType) -> None:
    assert len(ablation.ROWS) == 10
    cells = [ablation.changed(TwoWayNetConfig(), changes, 1e-4) for changes in ablation.ROWS.values()]
    assert len({cell.model_dump_json() for cell in cells}) == 10
    for cell in cells:
        TwoWayNetConfig.model_validate(cell.model_dump())
        assert cell.optimizer.step_epoch == 20
        cell.network()
    assert cells[1].optimizer.learning_rate == pytest.approx(1e-5)


@pytest.mark.usefixtures("without_graphs")
def test_a_grid_is_trained_once_and_tabulated(ablation: ModuleType, tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    splits = {}
    for split, rows in (("train", 80), ("dev", 60), ("test", 60)):
        views = random.normal(size=(2, rows, 6)).astype("float32")
        splits[split] = (views[0], views[1])
    data = write_two_view(tmp_path / "data", splits, name="tiny", origin="drawn").path
    ablation.ROWS = {"as published": {}, "no dropout": {"dropout": 0.0}}
    ablation.main(data, tmp_path / "grid", config="mnist", epochs=1, seeds=1, learning_rate=1e-3, split="test")
    table = (tmp_path / "grid" / "table.md").read_text()
    assert [line.split("|")[1].strip() for line in table.splitlines()[2:]] == ["as published", "no dropout"]
    weights = tmp_path / "grid" / "no_dropout-0" / "last.weights.h5"
    before = weights.stat().st_mtime_ns
    ablation.main(data, tmp_path / "grid", config="mnist", epochs=1, seeds=1, learning_rate=1e-3, split="test")
    assert weights.stat().st_mtime_ns == before
