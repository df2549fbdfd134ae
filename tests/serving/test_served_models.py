"""Exported models answer as the Keras models do, hold each weight once, and say what they take and give."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2
from tensorflow_serving.apis import prediction_log_pb2

from vse_zoo.sets import ItemSets

LIMIT = 1e-6
SLOWER = [pytest.param(name, marks=pytest.mark.slow) for name in ("fisher", "baseline")]
SENTENCES = ["attention", "transport", *SLOWER]
ALL = [*SENTENCES, "matrices"]


def masked(counts: np.ndarray) -> np.ndarray:
    return np.arange(4) < counts[:, None]


def vectors(found: dict[str, np.ndarray], count: str) -> np.ndarray:
    """The embedding, or the real items of all sets."""
    if count not in found:
        return found["embedding"]
    return ItemSets.of(found["embedding"], np.arange(found["embedding"].shape[1]) < found[count][:, None]).items


def plain(encoded: Any) -> np.ndarray:
    return encoded.items if isinstance(encoded, ItemSets) else encoded


@pytest.mark.parametrize("name", SENTENCES)
def test_images_and_sentences_are_encoded_as_by_the_model(
    serve: Any, name: str, regions: np.ndarray, counts: np.ndarray, texts: list[str]
) -> None:
    served = serve(name)
    model = served.model
    images = served.ask("encode_image", regions=regions, n_regions=counts)
    expected = plain(model.encode_image(regions, masked(counts)))
    np.testing.assert_allclose(vectors(images, "n_regions"), expected, atol=LIMIT)
    for language in model.languages:
        found = served.ask(f"encode_text_{language}", text=texts)
        np.testing.assert_allclose(vectors(found, "n_words"), plain(model.encode_text(texts, language)), atol=LIMIT)


@pytest.mark.parametrize("name", SENTENCES)
def test_scores_are_those_of_the_model(
    serve: Any, name: str, regions: np.ndarray, counts: np.ndarray, texts: list[str]
) -> None:
    served = serve(name)
    images, sentences = (
        served.ask("encode_image", regions=regions, n_regions=counts),
        served.ask("encode_text_en", text=texts[:3]),
    )
    request = {"image": images.pop("embedding"), "text": sentences.pop("embedding"), **images, **sentences}
    expected = served.model.similarity(
        served.model.encode_image(regions, masked(counts)), served.model.encode_text(texts[:3])
    )
    np.testing.assert_allclose(served.ask("similarity", **request)["scores"], expected, atol=LIMIT)


def test_plans_are_those_of_the_model(serve: Any, regions: np.ndarray, counts: np.ndarray, texts: list[str]) -> None:
    served = serve("transport")
    images, sentences = (
        served.ask("encode_image", regions=regions, n_regions=counts),
        served.ask("encode_text_en", text=texts),
    )
    found = served.ask(
        "explain",
        image=images["embedding"],
        text=sentences["embedding"],
        n_regions=counts,
        n_words=sentences["n_words"],
    )
    plans, cosines = served.model.align(
        served.model.encode_image(regions, masked(counts)), served.model.encode_text(texts)
    )
    np.testing.assert_allclose(found["plan"], plans, atol=LIMIT)
    np.testing.assert_allclose(found["cosine"], cosines, atol=LIMIT)
    np.testing.assert_allclose(found["plan"].sum((1, 2)), 1.0, atol=1e-5)


def test_two_matrices(serve: Any) -> None:
    served, random = serve("matrices"), np.random.default_rng(1)
    x, y = (random.normal(size=(5, size)).astype("float32") for size in (6, 9))
    for name, rows in {"encode_x": x, "encode_y": y, "reconstruct_x": y, "reconstruct_y": x}.items():
        (found,) = served.ask(name, **{"x" if rows is x else "y": rows}).values()
        np.testing.assert_allclose(found, getattr(served.model, name)(rows), atol=LIMIT)
    h, g = served.model.encode_x(x), served.model.encode_y(y[:3])
    expected = np.corrcoef(h, g)[:5, 5:]
    np.testing.assert_allclose(served.ask("similarity", x=h, y=g)["scores"], expected, atol=1e-5)


@pytest.mark.parametrize("name", ALL)
def test_the_signatures_are_those_declared(serve: Any, name: str) -> None:
    served = serve(name)
    loaded = served.loaded.signatures
    assert set(loaded) == {*served.export.signatures, "serving_default"}
    for key, signature in served.export.signatures.items():
        _, inputs = loaded[key].structured_input_signature
        assert inputs == dict(signature.inputs)
        outputs = loaded[key].structured_outputs
        assert set(outputs) == set(signature.outputs)
        for output, spec in signature.outputs.items():
            assert outputs[output].dtype == spec.dtype
            assert outputs[output].shape.is_compatible_with(spec.shape)
    default = loaded[served.export.default]
    assert loaded["serving_default"].structured_input_signature == default.structured_input_signature
    assert served.export.default == ("encode_x" if name == "matrices" else "encode_text_en")


@pytest.mark.parametrize("name", ALL)
def test_each_weight_is_stored_once(serve: Any, backbone: Any, name: str) -> None:
    served = serve(name)
    path = str(served.export.path / "variables" / "variables")
    shapes = [shape for key, shape in tf.train.list_variables(path) if key.endswith("VARIABLE_VALUE")]
    stored = sum(int(np.prod(shape)) for shape in shapes)
    # A loss's learnable temperature, a scalar, isn't served.
    layers = sum(
        int(np.prod(weight.shape)) for layer in served.model.layers for weight in layer.weights if len(weight.shape)
    )
    if "encode_image_bytes" in served.export.signatures:
        layers += sum(map(np.size, backbone._network.get_weights()))
    # Of a model of sentences that could reconstruct, the way back from the mid representations isn't served, either.
    assert stored < layers if name == "fisher" else stored == layers
    data = served.export.path / "variables" / "variables.data-00000-of-00001"
    assert data.stat().st_size < 4 * stored + 12_000, "the rest describes the objects"


@pytest.mark.parametrize("name", ALL)
def test_vocabularies_are_assets_and_nothing_needs_xla(serve: Any, name: str) -> None:
    served = serve(name)
    folder = served.export.path
    assets = {path.name: path.read_text(encoding="utf-8").splitlines() for path in (folder / "assets").glob("*")}
    languages = served.model.languages
    assert assets == {
        f"vocabulary.{language}.txt": list(served.model.preprocessor.vocabulary(language)[1:]) for language in languages
    }
    assert str(folder.parents[1]).encode() not in (folder / "saved_model.pb").read_bytes(), "where it was made"
    graph = saved_model_pb2.SavedModel.FromString((folder / "saved_model.pb").read_bytes())
    functions = graph.meta_graphs[0].graph_def.library.function
    assert not [each.signature.name for each in functions if each.attr["_XlaMustCompile"].b]


@pytest.mark.parametrize("name", ALL)
def test_warm_up_requests_are_answered(serve: Any, name: str) -> None:
    served = serve(name)
    path = served.export.path / "assets.extra" / "tf_serving_warmup_requests"
    records = [record.numpy() for record in tf.data.TFRecordDataset(str(path))]
    requests = [prediction_log_pb2.PredictionLog.FromString(record).predict_log.request for record in records]
    assert [request.model_spec.signature_name for request in requests] == list(served.export.signatures)
    assert {request.model_spec.name for request in requests} == {served.export.path.parent.name}
    for request in requests:
        inputs = {key: tf.make_ndarray(value) for key, value in request.inputs.items()}
        found = served.ask(request.model_spec.signature_name, **inputs)
        assert all(np.isfinite(value).all() for value in found.values())


def test_more_padding_changes_nothing(serve: Any, regions: np.ndarray, counts: np.ndarray) -> None:
    served = serve("attention")
    longer = np.pad(regions, [(0, 0), (0, 3), (0, 0)], constant_values=np.nan)
    found, expected = (served.ask("encode_image", regions=each, n_regions=counts) for each in (longer, regions))
    np.testing.assert_allclose(found["embedding"], expected["embedding"], atol=LIMIT)


@pytest.mark.slow
def test_a_contextual_encoder(
    tmp_path: Path, tiny_bert: dict[str, Path], texts: list[str], counts: np.ndarray, regions: np.ndarray
) -> None:
    from vse_zoo.models.context_attention import ContextAttentionVSE, ContextualWords
    from vse_zoo.preprocessing import PiecePreprocessor
    from vse_zoo.serving import export_saved_model

    pieces = PiecePreprocessor.from_encoder(tiny_bert["keras"], ("en", "de"))
    words = ContextualWords.from_encoder(tiny_bert["keras"], pieces.special_pieces)
    model = ContextAttentionVSE(pieces, 6, units=8, heads=2, contextual=words)
    model.build()
    export = export_saved_model(model, tmp_path / "contextual")
    loaded: Callable[..., Any] = tf.saved_model.load(str(export.path)).signatures["encode_text_de"]
    found = loaded(text=tf.constant(texts))["embedding"]
    np.testing.assert_allclose(found, model.encode_text(texts, "de"), atol=1e-5)
