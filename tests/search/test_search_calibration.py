"""What a score means: isotonic regression as scikit-learn does it, and shares that hold on other queries."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

from vse_zoo.errors import PresetError
from vse_zoo.search.calibration import LENGTHS, Calibration, Curve, fit_curve, length_of
from vse_zoo.search.measuring import Measured, calibration_error


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(st.integers(-8, 8), st.booleans()), min_size=1, max_size=60))
def test_the_curve_is_that_of_scikit_learn(pairs: list[tuple[int, bool]]) -> None:
    scores, right = (np.array(column) for column in zip(*pairs, strict=True))
    theirs = IsotonicRegression(out_of_bounds="clip").fit(scores / 8, right)
    asked = np.linspace(-1.5, 1.5, 61)
    curve = fit_curve(scores / 8, right)
    np.testing.assert_allclose(curve(asked), theirs.predict(asked), atol=1e-12)
    assert (np.diff(curve.scores) > 0).all()
    assert (np.diff(curve.shares) >= 0).all()


def test_shares_are_found_where_they_are_known() -> None:
    random = np.random.default_rng(0)
    scores = random.uniform(0, 1, 200_000)
    right = random.uniform(0, 1, 200_000) < scores**2
    asked = np.linspace(0.05, 0.95, 19)
    np.testing.assert_allclose(fit_curve(scores, right)(asked), asked**2, atol=0.03)


def test_the_error_of_a_true_promise_is_small_and_of_a_false_one_its_size() -> None:
    random = np.random.default_rng(1)
    scores = random.uniform(0, 1, (20_000, 1))
    found = Measured(scores, random.uniform(0, 1, (20_000, 1)) < scores, np.zeros(20_000, bool), np.arange(20_000))
    true, false = Curve(np.array([0.0, 1.0]), np.array([0.0, 1.0])), Curve(np.array([0.0, 1.0]), np.array([0.3, 1.3]))
    assert calibration_error({"short": true, "long": false}, found) < 0.02
    assert calibration_error({"short": false, "long": true}, found) == pytest.approx(0.3, abs=0.02)


def test_a_preset_keeps_its_calibration(tmp_path: Path) -> None:
    curves = {length: fit_curve(np.array([0.1, 0.2, 0.7]), np.array([0, 1, 1])) for length in LENGTHS}
    Calibration("dev", 1000, 10, {"de": curves}, {"de": {"queries": 3}}).write(tmp_path)
    read = Calibration.read(tmp_path)
    assert read is not None
    assert (read.split, read.photos, read.depth, read.figures) == ("dev", 1000, 10, {"de": {"queries": 3}})
    for length in LENGTHS:
        np.testing.assert_allclose(read.curves["de"][length](np.array([0, 0.15, 9])), [0, 0.5, 1])
    assert Calibration.read(tmp_path / "none") is None


@pytest.mark.parametrize(
    "damage", ["{", "[]", '{"curves": {}}', '{"curves": {"en": {"short": {"scores": [1], "shares": []}}}}']
)
def test_a_damaged_calibration_is_named(tmp_path: Path, damage: str) -> None:
    (tmp_path / "assets").mkdir()
    (tmp_path / "assets" / "calibration.json").write_text(damage)
    with pytest.raises(Exception, match=r"calibration\.json") as caught:
        Calibration.read(tmp_path)
    assert type(caught.value).__module__ == "vse_zoo.errors"
    assert damage == "{" or isinstance(caught.value, PresetError)


def test_five_words_are_short() -> None:
    assert [length_of(count) for count in (1, 5, 6, 40)] == ["short", "short", "long", "long"]
