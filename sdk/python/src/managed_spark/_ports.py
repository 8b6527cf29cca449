"""The differences between asyncio and blocking code. Everything else is written once, in `_async`; the build generates
`_sync`.
"""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Any, Callable, Coroutine, TypeVar

import httpx
from websockets.asyncio.client import ClientConnection as AsyncConnection
from websockets.asyncio.client import connect as async_connect
from websockets.exceptions import InvalidStatus
from websockets.sync.client import ClientConnection as Connection
from websockets.sync.client import connect

from .errors import error_of

T = TypeVar("T")

__all__ = [
    "SOCKETS",
    "AsyncSocket",
    "Socket",
    "async_blocking",
    "async_bridge",
    "async_connect",
    "async_receive",
    "async_sleep",
    "blocking",
    "bridge",
    "connect",
    "receive",
    "sleep",
]

#: Below INFO, the library logs headers, one of which has the token.
SOCKETS = logging.getLogger("managed_spark.sockets")
SOCKETS.setLevel(logging.INFO)

sleep = time.sleep


class AsyncSocket(AsyncConnection):
    """A connection that refuses redirects, which would send the token to another server."""

    async def handshake(self, *args: Any, **kwargs: Any) -> None:
        try:
            await super().handshake(*args, **kwargs)
        except InvalidStatus as refusal:
            raise _final(refusal) from None


class Socket(Connection):
    """The blocking counterpart of AsyncSocket."""

    #: Newer versions of the library warn about a connection that is not used as a context manager.
    pending_legacy_warning = False

    def handshake(self, *args: Any, **kwargs: Any) -> None:
        self.pending_legacy_warning = False
        try:
            super().handshake(*args, **kwargs)
        except InvalidStatus as refusal:
            raise _final(refusal) from None


def _final(refusal: InvalidStatus) -> Exception:
    response = refusal.response
    return error_of(httpx.Response(response.status_code)) if 300 <= response.status_code < 400 else refusal


async def async_sleep(seconds: float) -> None:
    await asyncio.sleep(seconds)


async def async_receive(socket: AsyncSocket, timeout: float) -> Any:
    """Returns the next message. Raises TimeoutError if none arrives in time."""
    try:
        return await asyncio.wait_for(socket.recv(), timeout)
    except asyncio.TimeoutError:
        raise TimeoutError from None


def receive(socket: Socket, timeout: float) -> Any:
    return socket.recv(timeout=timeout)


async def async_blocking(work: Callable[[], T]) -> T:
    """Runs blocking code in a thread."""
    return await asyncio.get_running_loop().run_in_executor(None, work)


def blocking(work: Callable[[], T]) -> T:
    return work()


def async_bridge(call: Callable[[bytes, float], Coroutine[Any, Any, T]]) -> Callable[[bytes, float], T]:
    """Returns a function that runs the call in the event loop and blocks another thread until it is done."""
    loop = asyncio.get_running_loop()
    return lambda data, seconds: asyncio.run_coroutine_threadsafe(call(data, seconds), loop).result()


def bridge(call: Callable[[bytes, float], T]) -> Callable[[bytes, float], T]:
    return call
