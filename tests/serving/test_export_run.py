"""Runs and presets by the command line: what is exported, what is left out and why; and a built-in model on photos."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from vse_zoo import cli, presets
from vse_zoo.errors import ConfigError, PresetError
from vse_zoo.features import backbones
from vse_zoo.workflow.export import export_run


def test_the_command_exports_a_preset(
    serve: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model, out = serve("matrices").model, tmp_path / "out"
    presets.save(model, tmp_path / "preset")
    monkeypatch.setattr(sys, "argv", ["vse-zoo", "export", str(tmp_path / "preset"), str(out), "--version", "2"])
    with pytest.raises(SystemExit) as ended:
        cli.run()
    assert not ended.value.code
    names = "encode_x, encode_y, reconstruct_x, reconstruct_y, similarity; default: encode_x"
    assert capsys.readouterr().out == f"{out / '2'}: {names}\n"
    x = np.ones((1, 6), "float32")
    found = tf.saved_model.load(str(out / "2")).signatures["encode_x"](x=tf.constant(x))
    np.testing.assert_allclose(found["embedding"], model.encode_x(x), atol=1e-6)


@pytest.mark.parametrize(
    ("recorded", "reason"),
    [
        ({}, "nothing records which backbone computed its regions"),
        ({"backbone": "precomputed: boxes.tsv"}, "no backbone is called 'precomputed: boxes.tsv'"),
        ({"backbone": "efficientnet_lite0"}, "nothing records the grid of its regions by 'efficientnet_lite0'"),
    ],
)
def test_why_picture_files_are_left_out(serve: Any, tmp_path: Path, recorded: dict[str, Any], reason: str) -> None:
    if "backbone" in recorded:
        recorded.setdefault("grid", [2, 2] if ":" in recorded["backbone"] else [])
    presets.save(serve("baseline").model, tmp_path / "preset", {"dataset": recorded})
    found = export_run(str(tmp_path / "preset"), tmp_path / "out")
    assert "encode_image_bytes" not in found.signatures
    assert reason in found.left_out["encode_image_bytes"]


def test_a_grid_completes_the_record(serve: Any, tmp_path: Path, tiny_by_name: Any) -> None:
    presets.save(serve("attention").model, tmp_path / "p", {"dataset": {"backbone": "tiny"}})
    assert "encode_image_bytes" in export_run(str(tmp_path / "p"), tmp_path / "out", grid=(2, 2)).signatures


def test_a_grid_that_can_not_be_used(serve: Any, tmp_path: Path) -> None:
    cases = [
        ("attention", {"backbone": "precomputed: boxes.tsv"}, "no backbone is called 'precomputed: boxes.tsv'"),
        ("attention", {"backbone": "tiny", "grid": [2, 2]}, r"found 3x3, the model was trained on 2x2 regions"),
        ("matrices", {}, "takes no pictures"),
    ]
    for number, (name, recorded, reason) in enumerate(cases):
        presets.save(serve(name).model, tmp_path / str(number), {"dataset": recorded})
        with pytest.raises((ConfigError, PresetError), match=reason):
            export_run(str(tmp_path / str(number)), tmp_path / "out", grid=(3, 3))
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_a_built_in_model_on_photos(shared_data: Path, tmp_path: Path) -> None:
    name, grid = "context_attention_flickr8k_en_de", (3, 3)
    found = export_run(name, tmp_path / name, grid=grid)
    assert not found.left_out
    model, backbone = presets.load(name), backbones.get(backbones.BUILT_IN, grid)
    photos = sorted((shared_data / "flickr8k").rglob("*.jpg"))[:8]
    expected = model.encode_pictures(photos)
    loaded = tf.saved_model.load(str(found.path)).signatures
    served = loaded["encode_image_bytes"](image=tf.constant([photo.read_bytes() for photo in photos]))["embedding"]
    np.testing.assert_allclose(served, expected, atol=1e-5)
    texts = ["a dog runs on the beach", "Zwei Hunde spielen im Schnee."]
    for text, language in zip(texts, ("en", "de"), strict=True):
        served = loaded[f"encode_text_{language}"](text=tf.constant([text]))["embedding"]
        np.testing.assert_allclose(served, model.encode_text([text], language), atol=1e-5)
    stored = tf.train.list_variables(str(found.path / "variables" / "variables"))
    parameters = sum(int(np.prod(shape)) for key, shape in stored if key.endswith("VARIABLE_VALUE"))
    weights = sum(np.size(weight) for weight in [*model.get_weights(), *backbone._network.get_weights()])
    assert 0 <= weights - parameters <= 10, "a temperature and the metrics aren't served"
    (data,) = (found.path / "variables").glob("*.data-*")
    assert data.stat().st_size < 4 * parameters * 1.01
