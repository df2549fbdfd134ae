"""The folder of an exported model: versions, configuration, refusals, nothing half written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from google.protobuf import text_format
from tensorflow_serving.config import model_server_config_pb2

from vse_zoo.errors import ConfigError
from vse_zoo.serving import export, export_saved_model


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_version_is_never_replaced(serve: Any) -> None:
    served = serve("matrices")
    folder = served.export.path.parent
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with pytest.raises(ConfigError, match=r"matrices/1: this version is there already\. Choose another version"):
        export_saved_model(served.model, folder)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_another_version_stands_beside_and_the_configuration_stays(serve: Any, tmp_path: Path) -> None:
    model = serve("matrices").model
    folder = tmp_path / "new" / "mine"
    assert export_saved_model(model, folder, version=3).path == folder / "3"
    (folder / "models.config").write_text("changed")
    export_saved_model(model, str(folder), version=12)
    assert names(folder) == ["12", "3", "batching_parameters.txt", "models.config"]
    assert (folder / "models.config").read_text() == "changed"


def test_the_server_reads_the_configuration(serve: Any) -> None:
    folder = serve("attention").export.path.parent
    config = model_server_config_pb2.ModelServerConfig()
    text_format.Parse((folder / "models.config").read_text(), config)
    (found,) = config.model_config_list.config
    assert (found.name, found.base_path, found.model_platform) == ("attention", "/models/attention", "tensorflow")
    assert names(folder) == ["1", "batching_parameters.txt", "models.config"]


def test_a_model_exports_itself(serve: Any, tmp_path: Path) -> None:
    model = serve("matrices").model
    found = model.export_saved_model(tmp_path / "mine", 2)
    assert (found.path, found.default) == (tmp_path / "mine" / "2", "encode_x")
    x = tf.ones((1, 6))
    embedding = tf.saved_model.load(str(found.path)).signatures["encode_x"](x=x)["embedding"]
    np.testing.assert_allclose(embedding, model.encode_x(x), atol=1e-6)


@pytest.mark.parametrize("version", [0, -1])
def test_a_version_is_positive(serve: Any, tmp_path: Path, version: int) -> None:
    with pytest.raises(ConfigError, match=f"version: found {version}, expected a positive number"):
        export_saved_model(serve("matrices").model, tmp_path / "mine", version)


def test_a_file_is_no_folder(serve: Any, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("")
    with pytest.raises(ConfigError, match="found a file, expected a folder"):
        export_saved_model(serve("matrices").model, tmp_path / "mine")


def test_a_failure_leaves_nothing(serve: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(path: Path, *_: object) -> None:
        assert tf.io.gfile.exists(str(path / "saved_model.pb"))
        raise OSError("disk full")

    monkeypatch.setattr(export, "write_warmup", fail)
    with pytest.raises(OSError, match="disk full"):
        export_saved_model(serve("matrices").model, tmp_path / "mine")
    assert names(tmp_path / "mine") == []


def test_a_version_made_meanwhile_is_kept(serve: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def make(*_: object) -> None:
        (tmp_path / "mine" / "1").mkdir()
        (tmp_path / "mine" / "1" / "theirs").write_text("")

    monkeypatch.setattr(export, "write_warmup", make)
    with pytest.raises(ConfigError, match="this version is there already"):
        export_saved_model(serve("matrices").model, tmp_path / "mine")
    assert names(tmp_path / "mine" / "1") == ["theirs"]


def test_without_the_serving_api_the_warm_up_is_left_out(
    serve: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "tensorflow_serving.apis", None)
    found = export_saved_model(serve("matrices").model, tmp_path / "mine")
    assert found.left_out == {"warm-up": "warm-up requests need: pip install 'vse-zoo[serving]'"}
    assert not (found.path / "assets.extra").exists()
