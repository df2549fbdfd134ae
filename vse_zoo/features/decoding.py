"""Pictures decoded by threads, a batch ahead of the network that takes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from vse_zoo.errors import VSEZooError
from vse_zoo.images import Pixels

__all__ = ["decoded", "listed", "undecodable"]

Read = Callable[[int], Pixels]
_DECODERS = 2
_LISTED = 20


def decoded(indices: range, read: Read, batch_size: int) -> Iterator[tuple[range, list[Pixels | str]]]:
    """The pictures ``read(i)`` in batches: pixels, or the reasons why there are none."""

    def submit(start: int) -> tuple[range, list[Future[Pixels | str]]]:
        batch = range(start, min(start + batch_size, indices.stop))
        return batch, [pool.submit(_tried, read, i) for i in batch]

    with ThreadPoolExecutor(_DECODERS) as pool:
        ahead = submit(indices.start) if indices else None
        while ahead is not None:
            batch, futures = ahead
            ahead = submit(batch.stop) if batch.stop < indices.stop else None
            yield batch, [future.result() for future in futures]


def undecodable(indices: range, read: Read) -> dict[int, str]:
    """Those that can't be decoded, with the reasons."""
    with ThreadPoolExecutor(_DECODERS) as pool:
        results = pool.map(lambda i: _tried(read, i), indices)
        return {i: result for i, result in zip(indices, results, strict=True) if isinstance(result, str)}


def listed(reasons: Sequence[str]) -> str:
    """A line for each of the first reasons, and how many more there are."""
    more = [f"… and {len(reasons) - _LISTED} more"] if len(reasons) > _LISTED else []
    return "\n".join(f"  {line}" for line in [*reasons[:_LISTED], *more])


def _tried(read: Read, index: int) -> Pixels | str:
    try:
        return read(index)
    except (VSEZooError, OSError, ValueError, MemoryError) as error:
        return str(error) or type(error).__name__
