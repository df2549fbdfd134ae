"""The command line's data commands: two views, precomputed features, weights from a file."""

from __future__ import annotations

import base64
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from vse_zoo import cli
from vse_zoo.data import Dataset, Record, TwoViewData, write_dataset
from vse_zoo.errors import ConfigError, PresetError


def run(*arguments: object) -> str:
    result = CliRunner().invoke(cli.app, [str(argument) for argument in arguments], env={"COLUMNS": "200"})
    if result.exception is not None:
        raise result.exception
    return result.output


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    records = [Record(f"{number}.jpg", "train", {"en": ["a dog"]}) for number in range(3)]
    source = {"kind": "folder", "root": str(tmp_path)}
    return write_dataset(tmp_path / "data", records, name="n", image_source=source, languages=("en",)).path


def test_two_views_from_several_files(tmp_path: Path) -> None:
    np.savez(tmp_path / "1.npz", X1=np.ones((6, 3)), XTe1=np.ones((2, 3)))
    np.savez(tmp_path / "2.npz", X2=np.ones((6, 2)), XTe2=np.ones((2, 2)))
    files = ("--file", tmp_path / "1.npz", "--file", tmp_path / "2.npz")
    said = run("prepare", "two_view", tmp_path / "out", *files, "--dev-rows", 2, "--name", "mine")
    assert "8 pairs (train 4, dev 2, test 2) of 3 and 2 numbers. Next: vse-zoo train two_way_net --data" in said
    data = TwoViewData.open(tmp_path / "out")
    assert (data.name, data.splits) == ("mine", {"train": 4, "dev": 2, "test": 2})
    said = run("prepare", "two_view", tmp_path / "out", *files, "--overwrite")
    assert "- There is no dev split." in said


def test_precomputed_features(dataset: Path, tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", one=np.ones((4, 5)), two=np.ones((4, 2, 7)))
    (tmp_path / "names.txt").write_text("2.jpg\n1.jpg\nx.jpg\n0.jpg\n")
    options = ("--precomputed", tmp_path / "a.npz", "--names", tmp_path / "names.txt", "--key", "two")
    said = run("features", dataset, *options)
    assert "3 images have regions of 7 numbers" in said
    assert f"Next: vse-zoo train context_attention --data {dataset} --out runs/context_attention\n" in said
    assert f"or vse-zoo train two_way_net --config flickr8k_zoo --data {dataset} --out runs/two_way_net\n" in said
    assert Dataset.open(dataset).has_regions


def test_features_with_boxes(dataset: Path, tmp_path: Path) -> None:
    def row(image: str, share: float) -> str:
        boxes = base64.b64encode(np.float32([[0, 0, 40, 40 * share]]).tobytes()).decode()
        return f"{image}\t1\t{base64.b64encode(np.ones(4, 'f4').tobytes()).decode()}\t40\t40\t{boxes}\n"

    path = tmp_path / "a.tsv"
    path.write_text(row("0", 1) + row("1", 2) + row("2", 1) + row("2", 1))
    columns = "image_id,num_boxes,features,image_h,image_w,boxes"
    said = run("features", dataset, "--precomputed", path, "--fields", columns, "--half")
    assert "a.tsv, row 3: the image '2' is there 2 times; all its rows hold the same numbers." in said
    assert "- left out 1.jpg: " in said
    assert "row 2, field 'boxes': found the box" in said
    assert "2 images have regions of 4 numbers.\nNext: vse-zoo train two_way_net --config" in said
    opened = Dataset.open(dataset)
    assert opened.regions(np.arange(1))[0].dtype == np.float16
    np.testing.assert_array_equal(opened.boxes(2), [[0, 0, 1, 1]])
    run("features", dataset, "--precomputed", path, "--fields", columns, "--no-boxes", "--strict")
    assert Dataset.open(dataset).boxes(2) is None


@pytest.mark.parametrize(
    "options",
    [
        *(["--names", "n.txt"], ["--key", "a"], ["--encoding", "cp1252"], ["--half"]),
        ["--precomputed", "a.npy", "--grid", "1x1"],
    ],
)
def test_options_that_do_not_go_together(dataset: Path, options: list[str]) -> None:
    with pytest.raises(ConfigError, match="--names, --key, --fields, --encoding, --no-boxes and --half belong"):
        run("features", dataset, *options)


def test_weights_from_a_file(dataset: Path, tmp_path: Path) -> None:
    with pytest.raises(PresetError, match=r"keras:MobileNetV2/out_relu: no weights from .*none.weights.h5"):
        run("features", dataset, "--backbone", "keras:MobileNetV2/out_relu", "--weights", tmp_path / "none.weights.h5")
