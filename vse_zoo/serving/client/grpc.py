"""Requests by gRPC, with the messages of tensorflow-serving-api."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf
from numpy.typing import NDArray

from vse_zoo.errors import ConfigError
from vse_zoo.serving.client.base import Arrays, Client, ServingError

__all__ = ["GrpcClient"]

_UNLIMITED = [("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", -1)]


class GrpcClient(Client):
    """A client that speaks gRPC with TensorFlow Serving's port, 8500; faster than REST for arrays.

    Args:
        target: such as localhost:8500.
        model: the name that the model is served by.
        version: its number; the highest by default.
        options: as of `Client`.

    Raises:
        ConfigError: tensorflow-serving-api isn't installed.
    """

    def __init__(self, target: str, model: str, version: int | None = None, **options: Any) -> None:
        super().__init__(model, **options)
        try:
            import grpc
            from tensorflow_serving.apis import predict_pb2, prediction_service_pb2_grpc
        except ImportError:
            raise ConfigError("the gRPC client needs: pip install 'vse-zoo[serving]'") from None
        self.target = target
        self.version = version
        self._request, self._error = predict_pb2.PredictRequest, grpc.RpcError
        self._channel = grpc.insecure_channel(target, options=_UNLIMITED)
        self._stub = prediction_service_pb2_grpc.PredictionServiceStub(self._channel)

    def predict(self, signature: str, inputs: Arrays) -> dict[str, NDArray[Any]]:
        """Calls a signature: named arrays in, named arrays out; a `ServingError` where that fails."""
        request = self._request()
        request.model_spec.name, request.model_spec.signature_name = self.model, signature
        if self.version is not None:
            request.model_spec.version.value = self.version
        for name, value in inputs.items():
            request.inputs[name].CopyFrom(tf.make_tensor_proto(value.tolist() if value.dtype == object else value))
        try:
            response = self._stub.Predict(request, timeout=self.timeout)
        except self._error as error:
            problem = f"{error.code().name}: {error.details()}"
            raise ServingError(f"{self.target}, {self.model}: {signature}: {problem}") from None
        return {name: np.asarray(tf.make_ndarray(tensor)) for name, tensor in response.outputs.items()}

    def close(self) -> None:
        """Closes the connection."""
        self._channel.close()
