"""A preset is data: what asks for code is refused; hashes, versions and missing files tell what is wrong."""

from __future__ import annotations

import base64
import hashlib
import json
import marshal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import keras
import pytest

import vse_zoo
from vse_zoo import presets
from vse_zoo.errors import PresetError
from vse_zoo.models import ContextAttentionVSE, TwoWayNet, VSEModel
from vse_zoo.presets.allowed import check_classes


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    keras.utils.set_random_seed(1)
    model = TwoWayNet([3], 4, 5)
    model.build()
    model.save_to_preset(tmp_path / "preset", {"dataset": {"name": "tiny"}})
    return tmp_path / "preset"


def _lambda() -> dict[str, Any]:
    code = compile("__import__('os').environ.__setitem__('VSE_ZOO_BROKEN_INTO', '1')", "<x>", "eval")
    packed = base64.b64encode(marshal.dumps(code)).decode()
    return {"class_name": "__lambda__", "config": {"value": {"code": packed, "defaults": None, "closure": None}}}


def _named(module: str | None, name: str, registered: str | None = None, **config: Any) -> dict[str, Any]:
    return {"module": module, "class_name": name, "config": config, "registered_name": registered}


MALICIOUS: dict[str, dict[str, Any]] = {
    "a function of a module": _named("os", "system", None, command="true"),
    "a function registered as its path": _named(None, "system", "os.system"),
    "a function": {"module": "os", "class_name": "function", "config": "system", "registered_name": "system"},
    "a Lambda layer": _named("keras.layers", "Lambda", None, function=_lambda()),
    "a Lambda layer that claims to be registered": _named("keras.layers", "Lambda", "keras>Lambda", function=_lambda()),
    "packed code": _lambda(),
    "a class under the zoo's name that isn't there": _named("os", "system", "vse_zoo>system"),
    "a layer that loads files": _named("keras.layers", "TFSMLayer", None, filepath="elsewhere"),
    "a class inside Keras": _named("keras.src.utils.file_utils", "get_file", None, origin="http://localhost"),
    "a class inside KerasHub": _named("keras_hub.src.utils.preset_utils", "load_json"),
    "a layer of KerasHub that is no backbone": _named(None, "TokenAndPositionEmbedding", "keras_hub>Tokenizer"),
    "a type specification": {"class_name": "__typespec__", "spec_name": "x", "module": "os", "config": []},
    "a name that is a list": _named(None, "x", None) | {"registered_name": ["vse_zoo>TwoWayNet"]},
    "a precision policy from elsewhere": _named("os", "DTypePolicy", None),
}
PLACES: dict[str, Callable[[dict[str, Any], dict[str, Any]], object]] = {
    "the model": lambda config, bad: (config.clear(), config.update({"config": {"preprocessor": None}, **bad})),
    "an argument": lambda config, bad: config["config"].update(canonical=bad),
    "deep within": lambda config, bad: config["config"]["canonical"]["config"].update(dtype=[{"x": bad}]),
    "what it was compiled with": lambda config, bad: config.update(compile_config={"optimizer": bad}),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", MALICIOUS)
def test_configurations_that_ask_for_code_are_refused(
    saved: Path, kind: str, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VSE_ZOO_BROKEN_INTO", raising=False)
    path = saved / "config.json"
    config = json.loads(path.read_text())
    PLACES[place](config, json.loads(json.dumps(MALICIOUS[kind])))
    path.write_text(json.dumps(config))
    presets.record_hashes(saved)
    called: list[object] = []
    monkeypatch.setattr(keras.saving, "deserialize_keras_object", lambda *args, **options: called.append(args))
    with pytest.raises(PresetError, match=r"config\.json.*: found class .*is data and brings no code"):
        vse_zoo.load(saved)
    assert not called, "Keras saw the configuration"


def test_a_configuration_of_our_classes_passes(saved: Path) -> None:
    check_classes(json.loads((saved / "config.json").read_text()), saved)
    hub = _named("keras_hub.src.models.bert.bert_backbone", "BertBackbone", "keras_hub>BertBackbone")
    check_classes({"config": {"backbone": hub}}, saved)


@pytest.mark.parametrize("name", ["ContrastiveLoss", "TextPreprocessor"])
def test_a_class_that_is_no_model_is_refused(saved: Path, name: str) -> None:
    config = _named("vse_zoo", name, f"vse_zoo>{name}", preprocessor=None)
    (saved / "config.json").write_text(json.dumps(config))
    presets.record_hashes(saved)
    with pytest.raises(PresetError, match=rf"config\.json: .*found {name}, expected a model"):
        vse_zoo.load(saved)


@pytest.mark.parametrize("language", ["../../secret", "/etc/passwd", ""])
def test_languages_that_lead_out_of_the_folder_are_refused(saved: Path, language: str) -> None:
    config = json.loads((saved / "config.json").read_text())
    del config["config"]["preprocessor"]
    (saved / "config.json").write_text(json.dumps(config))
    described = {"class": "TextPreprocessor", "languages": [language], "max_length": 9}
    (saved / "preprocessor.json").write_text(json.dumps(described))
    presets.record_hashes(saved)
    with pytest.raises(PresetError, match=r"preprocessor\.json, field 'languages'"):
        vse_zoo.load(saved)


def test_weights_that_lie_in_another_file_are_refused(saved: Path) -> None:
    (saved.parent / "secret").write_bytes(bytes(4096))
    with h5py.File(saved / "model.weights.h5", "a") as file:
        name = next(iter(_datasets(file)))
        shape, dtype = file[name].shape, file[name].dtype
        del file[name]
        place = [(str(saved.parent / "secret"), 0, h5py.h5f.UNLIMITED)]
        file.create_dataset(name, shape, dtype, external=place)
    presets.record_hashes(saved)
    with pytest.raises(PresetError, match=r"model\.weights\.h5"):
        vse_zoo.load(saved)


def _datasets(file: h5py.File) -> list[str]:
    found: list[str] = []
    file.visititems(lambda name, item: found.append(name) if isinstance(item, h5py.Dataset) and item.size else None)
    return found


def _record(folder: Path, **changes: Any) -> None:
    path = folder / "metadata.json"
    recorded = json.loads(path.read_text())
    recorded["preset"].update(changes)
    path.write_text(json.dumps(recorded))


def test_a_newer_format_is_refused_with_what_to_do(saved: Path) -> None:
    _record(saved, format=2)
    with pytest.raises(PresetError, match=r"metadata\.json.*found version 2 .*at most 1.*pip install --upgrade"):
        vse_zoo.load(saved)


@pytest.mark.parametrize("found", [0, True, "1", None])
def test_a_format_that_is_no_version_is_refused(saved: Path, found: object) -> None:
    _record(saved, format=found)
    with pytest.raises(PresetError, match=r"metadata\.json, field 'preset\.format'"):
        vse_zoo.load(saved)


def test_one_changed_bit_is_found(saved: Path) -> None:
    path = saved / "model.weights.h5"
    content = bytearray(path.read_bytes())
    expected = hashlib.sha256(content).hexdigest()
    content[-100] ^= 1
    path.write_bytes(content)
    found = hashlib.sha256(content).hexdigest()
    with pytest.raises(PresetError, match=rf"h5: damaged or changed: found SHA-256 {found}, expected {expected}\. "):
        vse_zoo.load(saved)
    presets.record_hashes(saved)
    presets.check(saved)


@pytest.mark.parametrize("name", ["config.json", "model.weights.h5", "metadata.json"])
def test_a_missing_file_is_named(saved: Path, name: str) -> None:
    (saved / name).unlink()
    # Without its configuration a folder is no preset, unless it has a preprocessor.
    with pytest.raises(
        PresetError, match=name.replace(".", r"\.") if name != "config.json" else "neither a model folder"
    ):
        vse_zoo.load(saved)


@pytest.mark.parametrize(
    "hashes", [{}, {"config.json": "0"}, {"../outside": "0"}, {"/etc/passwd": "0"}, {"a\\b": "0"}, []]
)
def test_lists_of_files_that_make_no_sense_are_refused(saved: Path, hashes: Any) -> None:
    known = json.loads((saved / "metadata.json").read_text())["preset"]["sha256"]
    outside = isinstance(hashes, dict) and not {"config.json"} >= set(hashes)
    _record(saved, sha256={**known, **hashes} if outside else hashes)
    with pytest.raises(PresetError, match=r"metadata\.json"):
        vse_zoo.load(saved)


def test_a_preset_from_before_there_were_hashes_loads_and_is_upgraded(saved: Path) -> None:
    path = saved / "metadata.json"
    whole = json.loads(path.read_text())
    path.write_text(json.dumps({"dataset": {"name": "tiny"}}))
    presets.check(saved)
    assert type(vse_zoo.load(saved)) is TwoWayNet
    presets.record_hashes(saved)
    assert json.loads(path.read_text()) == whole


def test_models_load_themselves(saved: Path) -> None:
    loaded = VSEModel.from_preset(saved)
    assert type(loaded) is type(TwoWayNet.from_preset(str(saved))) is TwoWayNet
    with pytest.raises(PresetError, match=r"found a TwoWayNet, expected a ContextAttentionVSE\. Use TwoWayNet"):
        ContextAttentionVSE.from_preset(saved)
    (saved / "model.weights.h5").unlink()
    fresh = TwoWayNet.from_preset(saved, load_weights=False)
    assert [weight.shape for weight in fresh.weights] == [weight.shape for weight in loaded.weights]
    kernels = [model.channels.trainable_variables[0].numpy() for model in (fresh, loaded)]
    assert (kernels[0] != kernels[1]).any()
