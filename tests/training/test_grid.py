"""A grid of runs: what is finished is kept, the table holds mean and sample deviation, a missing figure is a dash."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from vse_zoo.training import run_grid

COLUMNS = {"a": "first", "b": "second"}
DRAWN = {("one", 0): 1.0, ("one", 1): 4.0, ("1/γ, two", 0): 2.0, ("1/γ, two", 1): 2.5}


@pytest.fixture(autouse=True)
def kept_session(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keras' state of a whole test run isn't collected after every cell, which takes seconds."""
    monkeypatch.setattr("keras.backend.clear_session", lambda: None)


def figures(row: str, seed: int, place: Path) -> dict[str, float | None]:
    return {"a": DRAWN[row, seed], "b": None if row == "one" else 3.0}


def test_means_deviations_and_missing_figures(tmp_path: Path) -> None:
    table = run_grid(["one", "1/γ, two"], 2, tmp_path, figures, COLUMNS)
    deviations = [np.std([1.0, 4.0], ddof=1), np.std([2.0, 2.5], ddof=1)]
    assert table.splitlines()[0] == "|  | first | second |"
    assert table.splitlines()[2:] == [
        f"| one | 2.50 ± {deviations[0]:.2f} | – |",
        f"| 1/γ, two | 2.25 ± {deviations[1]:.2f} | 3.00 ± 0.00 |",
    ]
    assert (tmp_path / "table.md").read_text(encoding="utf-8") == table + "\n"


def test_one_seed_has_no_deviation(tmp_path: Path) -> None:
    assert run_grid(["one"], 1, tmp_path, figures, {"a": "first"}).splitlines()[-1] == "| one | 1.00 |"


def test_what_is_finished_is_not_done_again(tmp_path: Path) -> None:
    asked: list[tuple[str, int]] = []

    def failing(row: str, seed: int, place: Path) -> dict[str, float | None]:
        asked.append((row, seed))
        if len(asked) == 3:
            raise KeyboardInterrupt
        return figures(row, seed, place)

    with pytest.raises(KeyboardInterrupt):
        run_grid(list(dict.fromkeys(row for row, _ in DRAWN)), 2, tmp_path, failing, COLUMNS)
    assert "1/γ" in (tmp_path / "table.md").read_text(encoding="utf-8"), "the table of the first seed"
    table = run_grid(["one", "1/γ, two"], 2, tmp_path, failing, COLUMNS)
    assert asked == [("one", 0), ("1/γ, two", 0), ("one", 1), ("one", 1), ("1/γ, two", 1)]
    assert "2.50" in table
