"""Requests that TensorFlow Serving runs through a new version before it answers with it, so that the first is fast."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import tensorflow as tf
from numpy.typing import NDArray
from PIL import Image

from vse_zoo.errors import ConfigError
from vse_zoo.serving.signatures import Signature

__all__ = ["WARMUP", "example", "write_warmup"]

WARMUP = Path("assets.extra") / "tf_serving_warmup_requests"
_ITEMS = 4


def example(signature: Signature, batch: int = 1) -> dict[str, NDArray[np.generic]]:
    """A valid request of ``batch`` rows: ones, small sets, short sentences, and a white picture."""
    return {name: _value(name, spec, batch) for name, spec in signature.inputs.items()}


def _value(name: str, spec: tf.TensorSpec, batch: int) -> NDArray[np.generic]:
    if spec.dtype == tf.string:
        return np.array([_picture() if name == "image" else b"a dog"] * batch, object)
    shape = [batch, *(size or _ITEMS for size in spec.shape[1:])]
    return np.full(shape, _ITEMS if spec.dtype == tf.int32 else 1.0, spec.dtype.as_numpy_dtype)


def _picture() -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (64, 48), "white").save(buffer, "JPEG")
    return buffer.getvalue()


def write_warmup(version: Path, model: str, signatures: Mapping[str, Signature]) -> None:
    """Writes a request for each signature into the folder of a version.

    Args:
        version: the SavedModel's folder.
        model: the name that it is served by.
        signatures: by name.

    Raises:
        ConfigError: tensorflow-serving-api isn't installed.
    """
    try:
        from tensorflow_serving.apis import predict_pb2, prediction_log_pb2
    except ImportError:
        raise ConfigError("warm-up requests need: pip install 'vse-zoo[serving]'") from None
    path = version / WARMUP
    path.parent.mkdir(parents=True, exist_ok=True)
    with tf.io.TFRecordWriter(str(path)) as writer:
        for name, signature in signatures.items():
            request = predict_pb2.PredictRequest()
            request.model_spec.name, request.model_spec.signature_name = model, name
            for key, value in example(signature).items():
                request.inputs[key].CopyFrom(tf.make_tensor_proto(value))
            log = prediction_log_pb2.PredictLog(request=request)
            writer.write(prediction_log_pb2.PredictionLog(predict_log=log).SerializeToString())
