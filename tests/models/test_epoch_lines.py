"""What training prints: one line an epoch where nobody watches, Keras' bar where somebody does."""

from __future__ import annotations

import re
import sys
from typing import Any

import keras
import numpy as np
import pytest

from vse_zoo.models import TwoWayNet

CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f]")


@pytest.fixture(scope="module")
def model() -> TwoWayNet:
    keras.utils.set_random_seed(1)
    model = TwoWayNet([3], 4, 5)
    model.compile("sgd", run_eagerly=True)
    return model


@pytest.fixture
def batch() -> dict[str, Any]:
    random = np.random.default_rng(0)
    return {"x": random.normal(size=(8, 4)).astype("float32"), "y": random.normal(size=(8, 5)).astype("float32")}


def test_one_line_an_epoch_into_a_pipe(
    model: TwoWayNet, batch: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    history = model.fit(batch, epochs=5, initial_epoch=2, batch_size=4, validation_data=batch)
    said = capsys.readouterr().out
    assert not CONTROL.search(said)
    lines = said.splitlines()
    assert [line.split(" - ")[0] for line in lines] == ["Epoch 3/5", "Epoch 4/5", "Epoch 5/5"]
    for number, line in enumerate(lines):
        figures = dict(part.split(": ") for part in line.split(" - ")[2:])
        assert next(iter(figures)) == "loss"
        assert figures.keys() == history.history.keys()
        for name, value in figures.items():
            assert float(value) == pytest.approx(history.history[name][number], rel=1e-4)


def test_what_callbacks_add_is_in_the_line(
    model: TwoWayNet, batch: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    """Callbacks may be one or a list, as in Keras."""
    added = keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: logs.update(val_rsum=12.5))
    for callbacks in (added, [added]):
        model.fit(batch, callbacks=callbacks)
        assert capsys.readouterr().out.endswith(" - val_rsum: 12.5\n")


def test_evaluation_and_prediction_print_a_line(
    model: TwoWayNet, batch: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    model.evaluate(batch)
    model.predict(batch)
    said = capsys.readouterr().out
    assert not CONTROL.search(said)
    assert [line.split(" - ")[0] for line in said.splitlines()] == ["1/1", "1/1"]


@pytest.mark.parametrize("verbose", [0, 1, 2])
def test_what_is_asked_for_is_printed(
    model: TwoWayNet, batch: dict[str, Any], verbose: int, capsys: pytest.CaptureFixture[str]
) -> None:
    model.fit(batch, verbose=verbose)
    said = capsys.readouterr().out
    assert (said == "") == (verbose == 0)
    assert bool(CONTROL.search(said)) == (verbose == 1)


def test_a_terminal_shows_the_bar(
    model: TwoWayNet, batch: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    model.fit(batch)
    assert "━" in capsys.readouterr().out
