"""Work beside the event loop: a few threads each for kinds of work that shouldn't wait for one another."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

from fastapi import HTTPException

__all__ = ["Lane"]

P = ParamSpec("P")
T = TypeVar("T")


class Lane:
    """Threads of their own and a queue that ends: whoever finds it full is told to come back.

    Args:
        workers: threads.
        waiting: calls that may wait for one.
    """

    def __init__(self, workers: int, waiting: int) -> None:
        self._pool = ThreadPoolExecutor(workers)
        self._most = workers + waiting
        self._calls = 0

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What the function returns or raises; an `HTTPException` 429 where too many wait."""
        if self._calls >= self._most:
            raise HTTPException(429, "Too many questions at once. Try again in a moment.", {"Retry-After": "1"})
        self._calls += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, partial(function, *args, **kwargs))
        finally:
            self._calls -= 1

    def close(self) -> None:
        """Ends the threads when what they do is done."""
        self._pool.shutdown(wait=False, cancel_futures=True)
