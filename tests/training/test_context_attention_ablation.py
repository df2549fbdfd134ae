"""The ablation recipe: a row changes what it says, a cell is trained once, a missing language has no figure."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from vse_zoo.data.dataset import Dataset
from vse_zoo.training import ContextAttentionConfig, load_config

pytestmark = pytest.mark.usefixtures("without_graphs")


@pytest.fixture
def ablation(load_recipe: Callable[[str], ModuleType]) -> ModuleType:
    return load_recipe("context_attention_ablation")


def test_every_row_differs_from_the_base_in_what_it_says(ablation: ModuleType) -> None:
    base = load_config(ablation.CONFIGS / "ablation.toml", ContextAttentionConfig)
    cells = {name: ablation.changed(base, changes) for name, changes in ablation.ROWS.items()}
    assert cells["base"] == base
    encoder = {"text": {"kind": "contextual", "encoder": "x", "precomputed": True}}
    pretrained = {**ablation.ROWS[ablation.PRETRAINED], **encoder}
    cells[ablation.PRETRAINED] = ablation.changed(base, pretrained)
    assert len({cell.model_dump_json() for cell in cells.values()}) == len(cells)
    for name, cell in cells.items():
        different = {
            section
            for section in ("model", "diversity", "ranking", "optimizer", "text", "train")
            if getattr(cell, section) != getattr(base, section)
        }
        assert different == set(pretrained if name == ablation.PRETRAINED else ablation.ROWS[name])


def test_a_grid_is_trained_once_and_tabulated(
    ablation: ModuleType, tiny: Dataset, config_file: Path, tmp_path: Path
) -> None:
    ablation.ROWS = {"base": {}, "English alone": {"train": {"languages": ("en",)}}}
    ablation.CONFIGS = tmp_path
    (tmp_path / "large.toml").write_text(config_file.read_text().replace("batch_size = 5", "batch_size = 24"))
    for _ in range(2):
        ablation.main(tiny.path, tmp_path, config="large", encoder=None, epochs=1, seeds=1, split="dev")
        times = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*/last.weights.h5")}
    assert len(times) == 2
    ablation.main(tiny.path, tmp_path, config="large", encoder=None, epochs=1, seeds=1, split="dev")
    assert times == {path: path.stat().st_mtime_ns for path in tmp_path.glob("*/last.weights.h5")}
    base, alone = (line.split("|")[2:-1] for line in (tmp_path / "table.md").read_text().splitlines()[2:])
    kept = json.loads((tmp_path / "base-0" / "dev.json").read_text())
    assert [cell.strip() for cell in base] == [f"{kept[name]:.2f}" for name in ablation.COLUMNS]
    assert [cell.strip() == "–" for cell in alone] == [False, False, False, True, True, True, True]
