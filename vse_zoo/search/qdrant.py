"""Vectors in Qdrant: in a folder, or on a server or cluster by its address."""

from __future__ import annotations

import os
import pickle
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from vse_zoo.errors import ConfigError, DataError, located
from vse_zoo.search.best import best
from vse_zoo.search.protocol import Hits, check_vectors

__all__ = ["API_KEY", "EXACT_UP_TO", "QdrantBackend", "check_place", "drop_collection", "server_url"]

API_KEY = "QDRANT_API_KEY"
"""Environment variable with a server's key; it is written nowhere."""
EXACT_UP_TO = 100_000
"""Keys up to which a server is asked to compare every one; above, its graph answers."""
_NUMBERS = 2**18
"""Numbers in one request, about 5 MB of JSON; a server takes 32 MB (its `max_request_size_mb`)."""
_IDS = 10_000
_SPARE, _MORE, _MOST = 8, 8, 4096
_SECONDS = 60


class QdrantBackend:
    """A `vse_zoo.search.Backend` in a collection of Qdrant.

    Single vectors are compared by their inner product, sets by the sum over the query's vectors of the largest one
    (MaxSim). Equal scores are in order of their keys where at most 4,096 more than wanted tie with the last.

    Args:
        place: a folder, for one process at a time, which has it all in memory; or a server's address. The server's key
            is taken from the environment variable QDRANT_API_KEY.
        collection: its name.
        shape: (E,), or (R, E).
        make: the collection, if it is missing.
        exact_up_to: keys up to which a server compares every one. Above, what its graph misses is missed. A folder is
            always exact, and so is a server for sets, unless its administrator gives them a graph or shorter copies.

    Raises:
        ConfigError: qdrant-client isn't installed.
        DataError: the server can't be reached or refuses, the folder is in use or damaged, the collection is missing or
            keeps something else. Every method may raise it.
    """

    def __init__(
        self, place: Path | str, collection: str, shape: Sequence[int], make: bool = True,
        exact_up_to: int = EXACT_UP_TO,
    ) -> None:  # fmt: skip
        self._shape = tuple(shape)
        self._place, self._collection = place, collection
        self._exact_up_to = exact_up_to
        self._count: int | None = None
        self._client = _connect(place)
        try:
            self._open(make)
        except BaseException:
            self._client.close()
            raise

    @property
    def shape(self) -> tuple[int, ...]:
        """(E,), or (R, E)."""
        return self._shape

    def __len__(self) -> int:
        """The number of keys."""
        if self._count is None:
            with _told(self._place):
                self._count = int(self._client.count(self._collection, exact=True).count)
        return self._count

    def add(self, keys: NDArray[np.int64], vectors: NDArray[np.float32]) -> None:
        """Keeps vectors (n, *shape) of keys (n,); a `ValueError` where they aren't finite or don't fit."""
        from qdrant_client.models import PointStruct

        check_vectors(keys, vectors, self._shape)
        self._count = None
        for some in self._chunks(len(keys)):
            pairs = zip(keys[some].tolist(), vectors[some].tolist(), strict=True)
            points = [PointStruct(id=key, vector=vector) for key, vector in pairs]
            with _told(self._place):
                self._client.upsert(self._collection, points, wait=True)

    def remove(self, keys: Iterable[int]) -> None:
        """Drops keys."""
        gone = sorted({int(key) for key in keys})
        self._count = None
        for start in range(0, len(gone), _IDS):
            with _told(self._place):
                self._client.delete(self._collection, gone[start : start + _IDS], wait=True)

    def vectors(self, keys: NDArray[np.int64]) -> NDArray[np.float32]:
        """(n, *shape) of keys (n,), in their order; a key that isn't there is a `KeyError`."""
        found = np.empty((len(keys), *self._shape), np.float32)
        for some in self._chunks(len(keys)):
            wanted = keys[some].tolist()
            with _told(self._place):
                records = self._client.retrieve(self._collection, wanted, with_payload=False, with_vectors=True)
            by_key = {record.id: record.vector for record in records}
            found[some] = [by_key[key] for key in wanted]
        return found

    def search(self, query: NDArray[np.float32], k: int) -> Hits:
        """The best ``k`` keys; see `vse_zoo.search.Backend`."""
        asked, spare = np.asarray(query, np.float32).tolist(), _SPARE
        while True:
            keys, scores = self._best(asked, k + spare)
            # The engine knows no order of equal scores: all that tie with the last one have to be seen.
            if len(keys) < k + spare or scores[-1] < scores[k - 1] or spare >= _MOST:
                return keys[:k], scores[:k]
            spare *= _MORE

    def finish(self) -> None:
        """Nothing: a server updates its graph by itself."""

    def close(self) -> None:
        """Ends the connection, or gives the folder free."""
        self._client.close()

    def _open(self, make: bool) -> None:
        from qdrant_client.models import (
            Distance,
            HnswConfigDiff,
            MultiVectorComparator,
            MultiVectorConfig,
            VectorParams,
        )

        wanted = VectorParams(size=self._shape[-1], distance=Distance.DOT)
        if len(self._shape) == 2:
            wanted.multivector_config = MultiVectorConfig(comparator=MultiVectorComparator.MAX_SIM)
            # A graph of sets takes R² products a comparison to make: more than the pictures took to encode.
            wanted.hnsw_config = HnswConfigDiff(m=0)
        with _told(self._place):
            if not self._client.collection_exists(self._collection):
                if not make:
                    problem = f"found no collection {self._collection}, which holds the vectors of the index."
                    do = "Name the right server, bring the collection back, or index the photos into a new folder."
                    raise DataError(located(self._place, problem, do=do))
                self._client.create_collection(self._collection, vectors_config=wanted)
            found = self._client.get_collection(self._collection).config.params.vectors
        if _kind(found) != _kind(wanted):
            problem = f"collection {self._collection}: found {_kind(found)}, expected {_kind(wanted)}."
            raise DataError(located(self._place, problem, do="Index the photos into a new folder."))

    def _best(self, query: list[Any], limit: int) -> Hits:
        params = self._parameters()
        with _told(self._place):
            points = self._client.query_points(
                self._collection, query=query, limit=limit, with_payload=False, search_params=params
            ).points
        keys = np.array([point.id for point in points], np.int64)
        return best(keys, np.array([point.score for point in points], np.float32), limit)

    def _parameters(self) -> Any:
        if not self._remote:
            return None  # a folder has no choice, and warns of them
        from qdrant_client.models import QuantizationSearchParams, SearchParams

        # Where the server keeps shortened copies too, scores are those of the vectors nevertheless.
        rescored = QuantizationSearchParams(rescore=True)
        return SearchParams(exact=len(self) <= self._exact_up_to, quantization=rescored)

    @property
    def _remote(self) -> bool:
        return isinstance(self._place, str)

    def _chunks(self, count: int) -> Iterator[slice]:
        size = max(1, _NUMBERS // int(np.prod(self._shape)))
        return (slice(start, min(start + size, count)) for start in range(0, count, size))


def server_url(text: str) -> str:
    """A server's address as it may be written down; a `ConfigError` where it is none, or has a password in it."""
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        expected = "expected 'local', or a server's address such as http://localhost:6333"
        raise ConfigError(f"qdrant: found {text!r}, {expected}.")
    if "@" in parts.netloc or parts.query:
        raise ConfigError(f"qdrant: found a password or a query in the address. Put the key in {API_KEY} instead.")
    return text.rstrip("/")


def check_place(url: str | None) -> None:
    """An error unless qdrant-client is installed and the server, if one is named, can be asked."""
    _check_installed()
    if url is not None:
        with closing(_connect(url)) as client, _told(url):
            client.get_collections()


def drop_collection(url: str, name: str) -> None:
    """Deletes a collection of a server, if it is there."""
    with closing(_connect(url)) as client, _told(url):
        client.delete_collection(name)


def _check_installed() -> None:
    if find_spec("qdrant_client") is None:
        raise ConfigError("qdrant: needs qdrant-client, which isn't installed. Run: pip install 'vse-zoo[qdrant]'.")


def _connect(place: Path | str) -> Any:
    _check_installed()
    from qdrant_client import QdrantClient  # takes a second

    if isinstance(place, str):
        # What doesn't answer is an error of its own, in the first request.
        key = os.environ.get(API_KEY) or None
        return QdrantClient(url=place, api_key=key, timeout=_SECONDS, check_compatibility=False)
    try:
        return QdrantClient(path=str(place), force_disable_check_same_thread=True)
    except RuntimeError as error:
        if "already accessed" not in str(error):
            raise
        do = "Wait, end it, or keep the vectors on a server (docs/search.md)."
        raise DataError(located(place, "another process has it open.", do=do)) from None
    except (OSError, ValueError, EOFError, sqlite3.Error, pickle.UnpicklingError) as error:
        problem = f"can't be opened by qdrant-client ({error})."
        raise DataError(located(place, problem, do="Index the photos into a new folder.")) from None


@contextmanager
def _told(place: Path | str) -> Iterator[None]:
    """Says what went wrong in the package's own words."""
    from qdrant_client.common.client_exceptions import ResourceExhaustedResponse
    from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

    try:
        yield
    except ResponseHandlingException as error:
        do = "Start the server, or check the address."
        raise DataError(located(place, f"can't be reached ({error.source}).", do=do)) from None
    except ResourceExhaustedResponse as error:
        raise DataError(located(place, f"is overloaded ({error}).", do="Try again later.")) from None
    except UnexpectedResponse as error:
        refused = error.status_code in (401, 403)
        problem = f"answered {error.status_code} ({error.content.decode(errors='replace')[:300]})."
        hint = f"Put the server's key into the environment variable {API_KEY}." if refused else None
        raise DataError(located(place, problem, do=hint)) from None
    except sqlite3.Error as error:
        raise DataError(located(place, f"can't be written by qdrant-client ({error}).")) from None


def _kind(vectors: Any) -> str:
    """What a collection keeps, in words."""
    if not hasattr(vectors, "size"):
        return "vectors with names"
    sets = f"sets, comparator {vectors.multivector_config.comparator.value}, of " if vectors.multivector_config else ""
    return f"{sets}vectors of {vectors.size} numbers, distance {vectors.distance.value}"
