"""Requests by REST, with nothing but the standard library."""

from __future__ import annotations

import base64
import json
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import numpy as np
from numpy.typing import NDArray

from vse_zoo.serving.client.base import Arrays, Client, ServingError

__all__ = ["RestClient"]


class RestClient(Client):
    """A client that speaks JSON with TensorFlow Serving's REST port, 8501.

    Args:
        url: such as http://localhost:8501.
        model: the name that the model is served by.
        version: its number; the highest by default.
        options: as of `Client`.
    """

    def __init__(self, url: str, model: str, version: int | None = None, **options: Any) -> None:
        super().__init__(model, **options)
        place = model if version is None else f"{model}/versions/{version}"
        self.url = f"{url.rstrip('/')}/v1/models/{place}:predict"

    def predict(self, signature: str, inputs: Arrays) -> dict[str, NDArray[Any]]:
        """Calls a signature: named arrays in, named arrays out; a `ServingError` where that fails."""
        values = {name: _json(value) for name, value in inputs.items()}
        body = json.dumps({"signature_name": signature, "inputs": values}).encode()
        request = Request(self.url, body, {"Content-Type": "application/json"})
        try:
            with urlopen(request, timeout=self.timeout) as response:
                outputs = json.load(response)["outputs"]
        except HTTPError as error:
            raise ServingError(f"{self.url}: {signature}: {_reason(error)}") from None
        except (OSError, ValueError, KeyError, TypeError) as error:
            problem = f"no answer of TensorFlow Serving ({type(error).__name__}: {error})."
            raise ServingError(f"{self.url}: {problem} Is it running there?") from error
        # A single output comes without its name.
        named = outputs if isinstance(outputs, dict) else {_single(signature): outputs}
        return {name: np.asarray(value) for name, value in named.items()}


def _single(signature: str) -> str:
    if signature.startswith("reconstruct_"):
        return signature.removeprefix("reconstruct_")
    return "scores" if signature == "similarity" else "embedding"


def _json(value: NDArray[Any]) -> Any:
    if value.dtype == object:
        return [{"b64": base64.b64encode(item).decode()} if isinstance(item, bytes) else item for item in value]
    return value.tolist()


def _reason(error: HTTPError) -> str:
    """What the server said."""
    text = error.read().decode(errors="replace")
    try:
        said = json.loads(text)["error"]
    except (ValueError, KeyError, TypeError):
        said = text or error.reason
    return f"status {error.code}: {said}"
