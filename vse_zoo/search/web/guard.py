"""What every request has to pass and every response carries."""

from __future__ import annotations

import socket
from ipaddress import ip_address

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["MAX_BODY", "Guard", "is_loopback", "trusted_names"]

MAX_BODY = 20 * 2**20
"""Bytes of a request's body."""
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


def is_loopback(host: str) -> bool:
    """Whether only this computer reaches what listens there."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def trusted_names(host: str) -> frozenset[str]:
    """The names by which a server that listens at ``host`` may be called, beside IP addresses."""
    own = set() if is_loopback(host) else {socket.gethostname().lower(), socket.getfqdn().lower()}
    return frozenset({"localhost", host.lower()} | own)


class Guard:
    """ASGI middleware: names, origins, sizes and security headers.

    A request by a foreign name is refused: a page elsewhere whose name was made to lead here (DNS rebinding) could
    otherwise read the photos. IP addresses can't be made to lead elsewhere, and are trusted. What a browser asks for on
    behalf of another site's page is refused too, and a body as soon as it is too large, at the latest while it is read.

    Args:
        app: what is guarded.
        names: that are trusted.
        limit: bytes of a body.
    """

    def __init__(self, app: ASGIApp, names: frozenset[str], limit: int = MAX_BODY) -> None:
        self.app, self.names, self.limit = app, names, limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuses a request, or passes it on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers[name] = value
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        if refusal := self._refusal(scope):
            status, problem = refusal
            await JSONResponse({"detail": problem}, status)(scope, receive, with_headers)
        else:
            await self.app(scope, _limited(receive, self.limit), with_headers)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        headers = Headers(scope=scope)
        if not self._trusts(headers.get("host", "")):
            return 400, "The page was asked for by a name that it doesn't know. Use its address, such as 127.0.0.1."
        if headers.get("sec-fetch-site") == "cross-site" and scope["path"] != "/":
            return 403, "Pages of other sites can't use this one."
        length = headers.get("content-length", "0")
        if not (length.isascii() and length.isdigit()) or len(length) > 12 or int(length) > self.limit:
            return 413, _too_large(self.limit)
        return None

    def _trusts(self, host: str) -> bool:
        name = host[1:].partition("]")[0] if host.startswith("[") else host.rpartition(":")[0] or host
        try:
            ip_address(name)
        except ValueError:
            return name.lower().rstrip(".") in self.names
        return True


def _limited(receive: Receive, limit: int) -> Receive:
    seen = 0

    async def counted() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > limit:
            raise HTTPException(413, _too_large(limit))
        return message

    return counted


def _too_large(limit: int) -> str:
    return f"The picture is too large: at most {limit // 2**20} MB."
