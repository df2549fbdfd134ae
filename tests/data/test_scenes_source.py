from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from vse_zoo.data import Dataset, sources, write_dataset
from vse_zoo.data.scenes import render, scene_index, scene_name
from vse_zoo.errors import DataError


def test_source_gives_the_splits_asked_for_and_keeps_the_test_pictures() -> None:
    small, large = (sources.get("scenes")(train=train, dev=2, test=4, seed=3) for train in (3, 9))
    assert [record.split for record in small.records] == ["train"] * 3 + ["dev"] * 2 + ["test"] * 4
    assert small.records[-4:] == large.records[-4:]
    assert len({record.image for record in large.records}) == 15
    assert small.languages == ("en", "de")
    assert all(len(texts) == 5 for record in small.records for texts in record.captions.values())


def test_dataset_opens_the_rendered_pictures(tmp_path: Path) -> None:
    found = sources.get("scenes")(train=2, dev=0, test=3, seed=5)
    write_dataset(
        tmp_path / "scenes", found.records, name=found.name, image_source=found.image_source, languages=found.languages
    )
    dataset = Dataset.open(tmp_path / "scenes")
    for row in dataset.indices("test"):
        expected = render(5, scene_index(dataset.image_names[row]))
        np.testing.assert_array_equal(np.asarray(dataset.open_image(int(row))), np.asarray(expected))
    assert dataset.records == found.records


def test_names_and_numbers_are_inverse() -> None:
    assert scene_name(12) == "scene-000012"
    assert scene_index(scene_name(900_499)) == 900_499


@pytest.mark.parametrize("options", [{"train": -1}, {"test": 100_001}])
def test_impossible_counts_are_refused(options: dict[str, int]) -> None:
    with pytest.raises(DataError, match="pictures"):
        sources.get("scenes")(**options)
