"""What a served call costs beside the Keras model: one sentence, one picture's regions, batches of 64.

    python benchmarks/served_calls.py --repeats 200

loads saved_models/<preset>/1 and calls, in turns, the Keras model (`encode_text`, `encode_image`), the SavedModel's
signature, and the signature by way of gRPC: the package's client, and on the same machine a PredictionService in Python
in the place of TensorFlow Serving. Milliseconds, and ratios of medians to the Keras model.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from concurrent import futures
from contextlib import contextmanager
from typing import Any

import grpc
import numpy as np
import tensorflow as tf
from tensorflow_serving.apis import predict_pb2, prediction_service_pb2_grpc

import vse_zoo
from vse_zoo.registry import saved_models
from vse_zoo.serving.client import GrpcClient

Call = Callable[[], Any]
SENTENCES = ["a dog runs on the beach", "two men ride bicycles along a wet street", "a red square above a small circle"]


class Service(prediction_service_pb2_grpc.PredictionServiceServicer):
    """TensorFlow Serving's PredictionService for one SavedModel."""

    def __init__(self, signatures: Any) -> None:
        self.signatures = signatures

    def Predict(self, request: Any, context: Any) -> Any:  # noqa: N802
        inputs = {name: tf.constant(tf.make_ndarray(value)) for name, value in request.inputs.items()}
        response = predict_pb2.PredictResponse()
        for name, value in self.signatures[request.model_spec.signature_name](**inputs).items():
            response.outputs[name].CopyFrom(tf.make_tensor_proto(value.numpy()))
        return response


@contextmanager
def served(signatures: Any, name: str) -> Iterator[GrpcClient]:
    # Like TensorFlow Serving, which takes messages of any size.
    server = grpc.server(futures.ThreadPoolExecutor(2), options=[("grpc.max_receive_message_length", -1)])
    prediction_service_pb2_grpc.add_PredictionServiceServicer_to_server(Service(signatures), server)
    port = server.add_insecure_port("localhost:0")
    server.start()
    try:
        yield GrpcClient(f"localhost:{port}", name)
    finally:
        server.stop(None)


def cases(model: Any, signatures: Any, client: GrpcClient, regions: int) -> dict[str, list[Call]]:
    """For each request the three ways to it: Keras, the signature, gRPC."""
    language = model.languages[0]
    found: dict[str, list[Call]] = {}
    for rows in (1, 64):
        texts = [SENTENCES[row % len(SENTENCES)] for row in range(rows)]
        images = np.random.default_rng(0).random((rows, regions, model.region_dim)).astype("float32")
        counts, mask = np.full(rows, regions, "int32"), np.ones((rows, regions), bool)
        found[f"{rows} sentences" if rows > 1 else "1 sentence"] = [
            lambda texts=texts: model.encode_text(texts, language),
            lambda texts=texts: signatures[f"encode_text_{language}"](text=tf.constant(texts))["embedding"].numpy(),
            lambda texts=texts: client.encode_texts(texts, language),
        ]
        found[f"{rows} pictures" if rows > 1 else "1 picture"] = [
            lambda images=images, mask=mask: model.encode_image(images, mask),
            lambda images=images, counts=counts: signatures["encode_image"](
                regions=tf.constant(images), n_regions=tf.constant(counts)
            )["embedding"].numpy(),
            lambda images=images: client.encode_images(images),
        ]
    return found


def timed(calls: list[Call], repeats: int) -> np.ndarray:
    """Milliseconds (calls, repeats), in turns, after a first round that isn't counted."""
    times = np.zeros((len(calls), repeats + 1))
    for repeat in range(repeats + 1):
        for number, call in enumerate(calls):
            start = time.perf_counter()
            call()
            times[number, repeat] = 1000 * (time.perf_counter() - start)
    return times[:, 1:]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=200)
    presets = ["context_attention_flickr8k_en_de", "optimal_transport_flickr8k_en"]
    parser.add_argument("--presets", nargs="*", default=presets)
    options = parser.parse_args()
    print(f"{'ms, p50/p95 of ' + str(options.repeats):<52}{'Keras':>16}{'signature':>22}{'gRPC':>24}")
    for name in options.presets:
        rows, columns = vse_zoo.presets.metadata(name)["dataset"]["grid"]
        signatures = tf.saved_model.load(str(saved_models() / name / "1")).signatures
        model = vse_zoo.load(name)
        with served(signatures, name) as client:
            for what, calls in cases(model, signatures, client, rows * columns).items():
                times = timed(calls, options.repeats)
                middle, late = np.percentile(times, 50, axis=1), np.percentile(times, 95, axis=1)
                cells = [f"{p50:8.2f}/{p95:.2f}" for p50, p95 in zip(middle, late, strict=True)]
                ratios = ["", *(f" ({p50 / middle[0]:.2f}x)" for p50 in middle[1:])]
                row = "".join(f"{cell + ratio:>24}" for cell, ratio in zip(cells, ratios, strict=True))
                print(f"{name + ': ' + what:<48}{row}", flush=True)


if __name__ == "__main__":
    main()
