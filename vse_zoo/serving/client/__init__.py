"""Clients of TensorFlow Serving with an exported model: by REST, and by gRPC with tensorflow-serving-api."""

from vse_zoo.serving.client.base import Client, ServingError
from vse_zoo.serving.client.grpc import GrpcClient
from vse_zoo.serving.client.rest import RestClient

__all__ = ["Client", "GrpcClient", "RestClient", "ServingError"]
