"""What asyncio and blocking code do differently. Everything else is written once, in `_async`; the build makes `_sync`."""

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

#: Below INFO, sockets log their headers, of which one holds the token.
SOCKETS = logging.getLogger("managed_spark.sockets")
SOCKETS.setLevel(logging.INFO)

sleep = time.sleep


class AsyncSocket(AsyncConnection):
    """A connection to the server that was named: a redirect, which would take the token to another one, is refused."""

    async def handshake(self, *args: Any, **kwargs: Any) -> None:
        try:
            await super().handshake(*args, **kwargs)
        except InvalidStatus as refusal:
            raise _final(refusal) from None


class Socket(Connection):
    """The blocking form of AsyncSocket."""

    #: It is no context, which newer versions warn of.
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
    """Returns the next message. Throws a TimeoutError if none arrives in time."""
    try:
        return await asyncio.wait_for(socket.recv(), timeout)
    except asyncio.TimeoutError:
        raise TimeoutError from None


def receive(socket: Socket, timeout: float) -> Any:
    return socket.recv(timeout=timeout)


async def async_blocking(work: Callable[[], T]) -> T:
    """Runs code that has only a blocking form in a thread."""
    return await asyncio.get_running_loop().run_in_executor(None, work)


def blocking(work: Callable[[], T]) -> T:
    return work()


def async_bridge(call: Callable[[bytes, float], Coroutine[Any, Any, T]]) -> Callable[[bytes, float], T]:
    """Returns the blocking form of a call, for a thread beside the loop."""
    loop = asyncio.get_running_loop()
    return lambda data, seconds: asyncio.run_coroutine_threadsafe(call(data, seconds), loop).result()


def bridge(call: Callable[[bytes, float], T]) -> Callable[[bytes, float], T]:
    return call
