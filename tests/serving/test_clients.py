"""REST and gRPC clients against small servers that answer from the SavedModel as TensorFlow Serving does."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Callable, Iterator
from concurrent import futures
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from vse_zoo.errors import ConfigError, DataError
from vse_zoo.serving.client import Client, GrpcClient, RestClient, ServingError

grpc = pytest.importorskip("grpc")
NAMES = ["attention", "transport"]
Connect = Callable[..., Client]


def run(serve: Any, model: str, signature: str, values: dict[str, Any]) -> dict[str, np.ndarray]:
    """An answer; `KeyError` for what isn't served."""
    if model not in NAMES:
        raise KeyError(f"Servable not found for request: Latest({model})")
    served = serve(model)
    found = served.loaded.signatures
    if signature not in found:
        raise KeyError(f"Serving signature name: {signature} not found in signature def")
    specs = found[signature].structured_input_signature[1]
    return served.ask(signature, **{name: tf.constant(value, specs[name].dtype) for name, value in values.items()})


class Prediction:
    """TensorFlow Serving's PredictionService, over gRPC."""

    def __init__(self, serve: Any) -> None:
        self.serve = serve

    def predict(self, request: Any, context: Any) -> Any:
        from tensorflow_serving.apis import predict_pb2

        spec = request.model_spec
        values = {name: tf.make_ndarray(tensor) for name, tensor in request.inputs.items()}
        try:
            found = run(self.serve, spec.name, spec.signature_name, values)
        except KeyError as error:
            context.abort(grpc.StatusCode.NOT_FOUND, error.args[0])
        except tf.errors.InvalidArgumentError as error:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, error.message)
        response = predict_pb2.PredictResponse()
        for name, value in found.items():
            response.outputs[name].CopyFrom(tf.make_tensor_proto(value))
        return response


@pytest.fixture(scope="module")
def grpc_target(serve: Any) -> Iterator[str]:
    from tensorflow_serving.apis import prediction_service_pb2_grpc

    class Servicer(prediction_service_pb2_grpc.PredictionServiceServicer):
        def Predict(self, request: Any, context: Any) -> Any:  # noqa: N802
            return Prediction(serve).predict(request, context)

    server = grpc.server(futures.ThreadPoolExecutor(2))
    prediction_service_pb2_grpc.add_PredictionServiceServicer_to_server(Servicer(), server)
    port = server.add_insecure_port("localhost:0")
    server.start()
    yield f"localhost:{port}"
    server.stop(None)


def decoded(value: Any) -> Any:
    if isinstance(value, list):
        return [decoded(item) for item in value]
    return base64.b64decode(value["b64"]) if isinstance(value, dict) else value


@pytest.fixture(scope="module")
def rest_url(serve: Any) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            model = self.path.removeprefix("/v1/models/").removesuffix(":predict")
            try:
                inputs = {name: decoded(value) for name, value in body["inputs"].items()}
                found = run(serve, model, body["signature_name"], inputs)
            except KeyError as error:
                self.answer(404, {"error": error.args[0]})
            except tf.errors.InvalidArgumentError as error:
                self.answer(400, {"error": error.message})
            else:
                lists = {name: value.tolist() for name, value in found.items()}
                self.answer(200, {"outputs": lists if len(lists) > 1 else next(iter(lists.values()))})

        def answer(self, status: int, value: Any) -> None:
            self.send_response(status)
            self.end_headers()
            self.wfile.write(json.dumps(value).encode())

        def log_message(self, *_: Any) -> None:
            return

    server = ThreadingHTTPServer(("localhost", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://localhost:{server.server_port}"
    server.shutdown()


@pytest.fixture(params=["rest", "grpc"])
def connect(request: pytest.FixtureRequest, rest_url: str, grpc_target: str) -> Connect:
    kind, place = (RestClient, rest_url) if request.param == "rest" else (GrpcClient, grpc_target)
    return lambda model, **options: kind(place, model, timeout=60, **options)


@pytest.mark.parametrize("name", NAMES)
def test_clients_give_what_the_model_gives(
    serve: Any, connect: Connect, name: str, regions: np.ndarray, counts: np.ndarray, texts: list[str]
) -> None:
    client, model = connect(name, batch_size=2), serve(name).model
    images = client.encode_images(regions, counts)
    expected = model.encode_image(regions, np.arange(4) < counts[:, None])
    sentences, known = client.encode_texts(texts), model.encode_text(texts)
    for found, wanted in ((images, expected), (sentences, known)):
        if name == "transport":
            assert found.counts.tolist() == wanted.counts.tolist()
            found, wanted = found.items, wanted.items
        np.testing.assert_allclose(found, wanted, atol=1e-6)
    np.testing.assert_allclose(client.similarity(images, sentences), model.similarity(expected, known), atol=1e-6)


def test_picture_files(serve: Any, connect: Connect, photo: Callable[..., bytes]) -> None:
    found = connect("attention").encode_pictures([photo(), photo((33, 40), "PNG")])
    expected = serve("attention").ask("encode_image_bytes", image=[photo(), photo((33, 40), "PNG")])["embedding"]
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_padding_may_be_nan(connect: Connect, regions: np.ndarray, counts: np.ndarray) -> None:
    padded = np.where(np.arange(4)[:, None] < counts[:, None, None], regions, np.nan)
    client = connect("attention")
    np.testing.assert_array_equal(client.encode_images(padded, counts), client.encode_images(regions, counts))


def test_the_server_says_what_is_wrong(connect: Connect, regions: np.ndarray, photo: Callable[..., bytes]) -> None:
    client = connect("attention")
    with pytest.raises(ServingError, match=r"encode_text_fr: .*encode_text_fr not found"):
        client.encode_texts(["un chien"], "fr")
    with pytest.raises(ServingError, match="between 1 and the number of items"):
        client.encode_images(regions, [4, 4, 4, 4, 0])
    with pytest.raises(ServingError, match=r"encode_image_bytes: .*(400|INVALID_ARGUMENT)"):
        client.encode_pictures([photo()[:99]])
    with pytest.raises(ServingError, match="Servable not found"):
        connect("other").encode_texts(["a dog"])


def test_the_client_says_what_is_wrong(connect: Connect, regions: np.ndarray) -> None:
    client = connect("attention")
    with pytest.raises(DataError, match="texts: found 'a dog', expected a list"):
        client.encode_texts("a dog")
    with pytest.raises(DataError, match=r"regions: found shape \(4, 6\)"):
        client.encode_images(regions[0])
    with pytest.raises(DataError, match=r"n_regions: found shape \(2,\), expected \(5,\)"):
        client.encode_images(regions, [1, 2])
    with pytest.raises(DataError, match="regions: found NaN"):
        client.encode_images(np.full((1, 2, 6), np.nan))
    with pytest.raises(DataError, match="pictures: expected a list"):
        client.encode_pictures(b"...")


def test_scores_of_joined_requests_are_refused(connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    client = connect("attention")
    monkeypatch.setattr(client, "predict", lambda *_: {"scores": np.zeros((2, 4), "f")})
    with pytest.raises(ServingError, match=r"found scores of shape \(2, 4\), expected \(2, 2\)\..*enable_batching"):
        client.similarity(np.ones((2, 16)), np.ones((2, 16)))


def test_nobody_there() -> None:
    with pytest.raises(ServingError, match="localhost:9/v1/models/mine:predict: no answer of TensorFlow Serving"):
        RestClient("http://localhost:9", "mine").encode_texts(["a dog"])
    with pytest.raises(ServingError, match="localhost:9, mine: encode_text_en: UNAVAILABLE"):
        GrpcClient("localhost:9", "mine").encode_texts(["a dog"])


def test_a_version_is_asked_for(rest_url: str, grpc_target: str) -> None:
    assert RestClient(f"{rest_url}/", "mine", 3).url == f"{rest_url}/v1/models/mine/versions/3:predict"
    assert GrpcClient(grpc_target, "attention", 3, timeout=60).encode_texts(["a dog"]).shape == (1, 16)


def test_without_the_serving_api_grpc_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "tensorflow_serving.apis", None)
    with pytest.raises(ConfigError, match=r"pip install 'vse-zoo\[serving\]'"):
        GrpcClient("localhost:9", "mine")
