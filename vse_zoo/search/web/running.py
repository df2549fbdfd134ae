"""The page's server."""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import uvicorn

from vse_zoo.errors import ConfigError
from vse_zoo.search.answers import moved_notice
from vse_zoo.search.index import Index
from vse_zoo.search.web.app import create_app
from vse_zoo.search.web.guard import is_loopback

__all__ = ["serve_index"]


def serve_index(folder: Path, host: str, port: int, say: Callable[[str], None]) -> None:
    """Serves an index until Ctrl-C.

    Args:
        folder: of the index.
        host: address or name to listen at.
        port: to listen at; 0: any that is free.
        say: takes what the user should read.

    Raises:
        ConfigError: the address can't be listened at.
        DataError: the folder holds no index, or is damaged.
        PresetError: the index's preset is no longer there.
    """
    logging.getLogger("python_multipart").setLevel(logging.ERROR)  # broken uploads are no news to who runs the server
    with Index.open(folder) as index, _listening(host, port) as listener:
        if index.moved:
            say(moved_notice(str(folder)))
        say("Loading the model…")
        app = create_app(index, host)
        app.state.service.warm_up()
        shown = f"[{host}]" if ":" in host else host
        if not is_loopback(host):
            say("Everyone who can reach this computer can now see the photos: there is no password.")
        say(f"Open http://{shown}:{listener.getsockname()[1]}  (stop with Ctrl-C)")
        config = uvicorn.Config(
            app, log_level="warning", access_log=False, server_header=False, timeout_graceful_shutdown=3
        )
        with suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[listener])


def _listening(host: str, port: int) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listener = socket.create_server((host, port), family=family)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        do = "Name another one with --port or --host."
        raise ConfigError(f"serve: can't listen at {host}, port {port} ({reason}). {do}") from None
    # Connections inherit it. Without, the second part of each answer waits 40 ms for the client's acknowledgement;
    # asyncio sets it on sockets of its own making alone.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener
