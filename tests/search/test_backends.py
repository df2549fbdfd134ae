"""One contract for everything that keeps vectors: whatever is added, replaced and removed, a full sort agrees."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from vse_zoo.errors import DataError
from vse_zoo.search import Backend, LocalBackend, QdrantBackend

Open = Callable[[Path], Backend]
SETS = (3, 6)

BACKENDS: dict[str, tuple[tuple[int, ...], Open]] = {
    "local": ((6,), lambda folder: LocalBackend(folder, (6,))),
    "local, sets": (SETS, lambda folder: LocalBackend(folder, SETS)),
    "graph": ((6,), lambda folder: LocalBackend(folder, (6,), graph_from=1)),
    "qdrant": ((6,), lambda folder: QdrantBackend(folder, "photos", (6,))),
    "qdrant, sets": (SETS, lambda folder: QdrantBackend(folder, "photos", SETS)),
}
NEEDS = {"graph": "usearch", "qdrant": "qdrant_client", "qdrant, sets": "qdrant_client"}


@pytest.fixture(params=BACKENDS)
def kind(request: pytest.FixtureRequest) -> tuple[tuple[int, ...], Open]:
    if request.param in NEEDS:
        pytest.importorskip(NEEDS[request.param])
    return BACKENDS[request.param]


def drawn(random: np.random.Generator, *shape: int) -> NDArray[np.float32]:
    """Small integers over four: their products are exact, so that scores may tie."""
    return random.integers(-3, 4, shape).astype(np.float32) / 4


def score(query: NDArray[np.float32], vectors: NDArray[np.float32]) -> float:
    if vectors.ndim == 1:
        return float(sum(float(a) * float(b) for a, b in zip(query, vectors, strict=True)))
    return sum(max(score(word, vector) for vector in vectors) for word in query)


def by_sorting(kept: dict[int, NDArray[np.float32]], query: NDArray[np.float32], k: int) -> list[tuple[int, float]]:
    scored = [(key, score(query, vectors)) for key, vectors in kept.items()]
    return sorted(scored, key=lambda pair: (-pair[1], pair[0]))[:k]


def check(backend: Backend, kept: dict[int, NDArray[np.float32]], random: np.random.Generator) -> None:
    assert len(backend) == len(kept)
    keys = random.permutation(np.array(sorted(kept), np.int64))
    np.testing.assert_array_equal(
        backend.vectors(keys), np.array([kept[int(key)] for key in keys]).reshape(len(keys), *backend.shape)
    )
    for k in (1, 3, 100):
        query = drawn(random, 6) if len(backend.shape) == 1 else drawn(random, 4, 6)
        found, scores = backend.search(query, k)
        assert list(zip(found.tolist(), scores.tolist(), strict=True)) == by_sorting(kept, query, k)


@pytest.mark.parametrize("seed", range(4))
def test_any_sequence_of_changes_gives_what_a_full_sort_gives(
    kind: tuple[tuple[int, ...], Open], seed: int, tmp_path: Path
) -> None:
    (shape, opened), random = kind, np.random.default_rng(seed)
    backend, kept, fresh = opened(tmp_path), {}, 1
    check(backend, kept, random)
    for _ in range(12):
        count = int(random.integers(1, 12))
        again = random.choice(sorted(kept), size=min(len(kept), int(random.integers(0, 3))), replace=False)
        keys = random.permutation(np.concatenate([again, np.arange(fresh, fresh + count)]).astype(np.int64))
        fresh += count
        vectors = drawn(random, len(keys), *shape)
        backend.add(keys, vectors)
        kept |= dict(zip(keys.tolist(), vectors, strict=True))
        gone = random.choice(np.arange(1, fresh), size=int(random.integers(0, fresh // 2)), replace=False)
        backend.remove(gone.tolist())
        kept = {key: value for key, value in kept.items() if key not in set(gone.tolist())}
        if random.random() < 0.5:
            backend.finish()
        if random.random() < 0.5:
            backend.close()
            backend = opened(tmp_path)
        check(backend, kept, random)
    backend.close()


def test_what_cannot_be_kept_is_refused(kind: tuple[tuple[int, ...], Open], tmp_path: Path) -> None:
    shape, opened = kind
    backend = opened(tmp_path)
    good = np.ones((1, *shape), np.float32)
    with pytest.raises(ValueError, match="finite"):
        backend.add(np.array([1]), good * np.nan)
    with pytest.raises(ValueError, match="keys from 1"):
        backend.add(np.array([0]), good)
    with pytest.raises(ValueError, match="expected finite ones"):
        backend.add(np.array([1]), np.ones((1, 7), np.float32))
    with pytest.raises(KeyError):
        backend.vectors(np.array([5]))
    assert len(backend) == 0


def test_rows_that_were_freed_are_used_again(tmp_path: Path) -> None:
    backend = LocalBackend(tmp_path, (2,))
    backend.add(np.arange(1, 101), np.ones((100, 2), np.float32))
    size = (tmp_path / "vectors.f32").stat().st_size
    backend.remove(range(1, 51))
    backend.add(np.arange(101, 151), np.ones((50, 2), np.float32))
    assert (tmp_path / "vectors.f32").stat().st_size == size == 100 * 8


def test_vectors_that_were_cut_off_are_an_error(tmp_path: Path) -> None:
    LocalBackend(tmp_path, (2,)).add(np.array([1, 2]), np.ones((2, 2), np.float32))
    (tmp_path / "vectors.f32").write_bytes(b"1234")
    with pytest.raises(DataError, match=r"found 4 bytes, expected 2 rows of 8"):
        LocalBackend(tmp_path, (2,))


def test_a_key_that_was_not_written_whole_does_not_count(tmp_path: Path) -> None:
    LocalBackend(tmp_path, (2,)).add(np.array([7]), np.ones((1, 2), np.float32))
    with (tmp_path / "keys.i64").open("ab") as file:
        file.write(b"\1\0\0")
    with (tmp_path / "vectors.f32").open("ab") as file:
        file.write(b"123")
    backend = LocalBackend(tmp_path, (2,))
    assert len(backend) == 1
    backend.add(np.array([8]), np.full((1, 2), 2, np.float32))
    np.testing.assert_array_equal(LocalBackend(tmp_path, (2,)).vectors(np.array([7, 8])), [[1, 1], [2, 2]])


def test_a_graph_finds_most_and_an_outdated_one_is_not_asked(tmp_path: Path) -> None:
    pytest.importorskip("usearch")
    random = np.random.default_rng(0)
    centres = random.normal(size=(40, 32))
    vectors = centres[random.integers(0, 40, 3000)] + 0.5 * random.normal(size=(3000, 32))
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    backend = LocalBackend(tmp_path, (32,), graph_from=1000)
    backend.add(np.arange(1, 3001), vectors)
    backend.finish()
    assert (tmp_path / "graph.usearch").is_file()
    shares = []
    for query in vectors[:50]:
        exact = np.lexsort((np.arange(3000), -(vectors @ query)))[:10] + 1
        shares.append(len(set(backend.search(query, 10)[0].tolist()) & set(exact.tolist())) / 10)
    assert np.mean(shares) > 0.95
    opposite = -vectors[:1]
    backend.add(np.array([9000]), opposite)  # it isn't in the graph
    assert backend.search(opposite[0], 1)[0].tolist() == [9000]
    backend.finish()
    assert LocalBackend(tmp_path, (32,)).search(opposite[0], 1)[0].tolist() == [9000]
