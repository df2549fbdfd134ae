"""The server's socket."""

from __future__ import annotations

import socket

import pytest

pytest.importorskip("uvicorn")
from vse_zoo.search.web.running import _listening


def test_no_part_of_an_answer_waits_for_an_acknowledgement() -> None:
    with _listening("127.0.0.1", 0) as listener, socket.create_connection(listener.getsockname()):
        connection, _ = listener.accept()
        with connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
