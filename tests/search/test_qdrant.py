"""Qdrant's local engine: ties, errors, and the transport model's exact best on top of it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from vse_zoo.errors import ConfigError, DataError
from vse_zoo.ranking import TransportScorer
from vse_zoo.search import QdrantBackend, reranking
from vse_zoo.search import qdrant as qdrant_module
from vse_zoo.search.reranking import rerank

pytest.importorskip("qdrant_client")


def test_equal_scores_are_in_order_of_their_keys_however_many_tie(tmp_path: Path) -> None:
    backend = QdrantBackend(tmp_path, "photos", (2,))
    keys = np.random.default_rng(0).permutation(np.arange(1, 101))
    backend.add(keys, np.tile(np.float32([[1, 0]]), (100, 1)))
    assert backend.search(np.float32([1, 0]), 5)[0].tolist() == [1, 2, 3, 4, 5]
    backend.close()


def test_threads_may_share_a_folder(tmp_path: Path) -> None:
    vectors = np.random.default_rng(0).standard_normal((200, 8)).astype(np.float32)
    backend = QdrantBackend(tmp_path, "photos", (8,))
    backend.add(np.arange(1, 201), vectors)
    expected = [backend.search(query, 5)[0].tolist() for query in vectors[:40]]
    with ThreadPoolExecutor(4) as pool:
        found = pool.map(lambda query: backend.search(query, 5)[0].tolist(), vectors[:40])
        kept = pool.submit(backend.vectors, np.arange(1, 201)).result()
        assert list(found) == expected
    assert np.array_equal(kept, vectors)
    backend.close()


def test_vectors_are_kept_as_they_are(tmp_path: Path) -> None:
    vectors = np.random.default_rng(0).standard_normal((9, 3, 7)).astype(np.float32)
    for _ in range(2):
        backend = QdrantBackend(tmp_path, "photos", (3, 7))
        backend.add(np.arange(1, 10), vectors)
        backend.close()
        backend = QdrantBackend(tmp_path, "photos", (3, 7), make=False)
        assert np.array_equal(backend.vectors(np.arange(9, 0, -1)), vectors[::-1])
        backend.close()


def test_another_collection_a_missing_one_and_an_open_folder_are_errors(tmp_path: Path) -> None:
    backend = QdrantBackend(tmp_path, "photos", (3,))
    with pytest.raises(DataError, match="another process has it open"):
        QdrantBackend(tmp_path, "photos", (3,))
    backend.close()
    single = r"found vectors of 3 numbers, distance Dot, expected "
    with pytest.raises(DataError, match=single + "vectors of 4 numbers"):
        QdrantBackend(tmp_path, "photos", (4,))
    with pytest.raises(DataError, match=single + "sets, comparator max_sim, of vectors of 3 numbers"):
        QdrantBackend(tmp_path, "photos", (2, 3))
    with pytest.raises(DataError, match="found no collection others"):
        QdrantBackend(tmp_path, "others", (3,), make=False)
    QdrantBackend(tmp_path, "photos", (3,), make=False).close()


def test_a_damaged_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "meta.json").write_text("{")
    with pytest.raises(DataError, match="can't be opened by qdrant-client"):
        QdrantBackend(tmp_path, "photos", (3,))


@pytest.mark.parametrize("address", ["server:6333", "ftp://server", "http://", "LOCAL", ""])
def test_what_is_no_address_is_an_error(address: str) -> None:
    with pytest.raises(ConfigError, match="expected 'local', or a server's address"):
        qdrant_module.server_url(address)


@pytest.mark.parametrize("address", ["https://me:secret@server", "http://server:6333/?api_key=secret"])
def test_secrets_in_an_address_are_refused_and_not_repeated(address: str) -> None:
    with pytest.raises(ConfigError, match="QDRANT_API_KEY") as error:
        qdrant_module.server_url(address)
    assert "secret" not in str(error.value)


def naive(
    vectors: NDArray[np.float64], words: NDArray[np.float64], weight: float, reduction: str
) -> NDArray[np.float64]:
    """S of every photo by the definition: IPOT with β = 0.5, 20 steps, rounded to exact marginals."""
    cosines = np.einsum("nre,we->nrw", vectors, words)
    cost, (regions, length) = 1 - cosines, cosines.shape[1:]
    kernel, plan, b = np.exp(-cost / 0.5), np.ones(cost.shape), np.full((len(cost), 1, length), 1 / length)
    for _ in range(20):
        q = kernel * plan
        a = 1 / regions / (q * b).sum(axis=2, keepdims=True)
        b = 1 / length / (q * a).sum(axis=1, keepdims=True)
        plan = a * q * b
    plan *= np.minimum(1, 1 / regions / plan.sum(axis=2, keepdims=True))
    plan *= np.minimum(1, 1 / length / plan.sum(axis=1, keepdims=True))
    rest = 1 / regions - plan.sum(axis=2, keepdims=True), 1 / length - plan.sum(axis=1, keepdims=True)
    plan += rest[0] * rest[1] / np.maximum(rest[0].sum(axis=1, keepdims=True), 1e-300)
    best = cosines.max(axis=1)
    return (best.sum(axis=1) if reduction == "sum" else best.mean(axis=1)) - weight * (plan * cost).sum(axis=(1, 2))


def units(random: np.random.Generator, *shape: int) -> NDArray[np.float32]:
    vectors = random.standard_normal(shape)
    return (vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)).astype(np.float32)


@pytest.fixture(scope="module")
def sets(tmp_path_factory: pytest.TempPathFactory) -> tuple[QdrantBackend, NDArray[np.float32]]:
    """240 photos of 5 regions in Qdrant, among them copies, and keys that were removed."""
    vectors = units(np.random.default_rng(3), 240, 5, 12)
    vectors[200:220] = vectors[:20]
    backend = QdrantBackend(tmp_path_factory.mktemp("sets"), "photos", (5, 12))
    backend.add(np.arange(1, 241), vectors)
    backend.add(np.arange(900, 910), units(np.random.default_rng(4), 10, 5, 12))
    backend.remove(range(900, 910))
    return backend, vectors


@pytest.mark.parametrize("reduction", ["sum", "mean"])
@pytest.mark.parametrize("weight", [0.0, 1.5, 12.0])
def test_the_transport_models_best_are_exactly_those_of_scoring_every_photo(
    sets: tuple[QdrantBackend, NDArray[np.float32]], weight: float, reduction: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend, vectors = sets
    monkeypatch.setattr(reranking, "_FIRST", 8)  # so that there are rounds to stop after
    form: dict[str, Any] = {"direction": "text_image", "reduction": reduction}
    model = SimpleNamespace(
        alignment=SimpleNamespace(transport_weight=weight, reduction=reduction),
        ranker=lambda images, texts: TransportScorer(images, texts, weight=weight, **form),
    )
    asked: list[int] = []
    search = backend.search
    monkeypatch.setattr(backend, "search", lambda query, count: asked.append(count) or search(query, count))
    for seed, (length, k) in enumerate([(1, 10), (4, 1), (4, 10)]):
        words = units(np.random.default_rng(seed), length, 12)
        words[0] = vectors[7, 2]  # two photos fit: the copy of the other
        exact = naive(vectors.astype(np.float64), words.astype(np.float64), weight, reduction)
        keys, scores = rerank(backend, model, words, k)
        order = np.lexsort((np.arange(1, 241), -exact))[:k]
        np.testing.assert_allclose(scores, exact[order], atol=2e-5)
        # Other keys than the definition's only where they are as good, within float32.
        np.testing.assert_allclose(exact[keys - 1], exact[order], atol=2e-5)
        assert len(set(keys.tolist())) == k
        # One word says little about a photo: its limit may take all of them. Four stop early.
        assert asked[-1] < (240 if length == 4 else 1000)
        asked.clear()
