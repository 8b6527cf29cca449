"""What asyncio and blocking code do differently. Everything else is written once, in `_async`; the build makes `_sync`."""

from __future__ import annotations

import asyncio
import time
from typing import Any, Callable, Coroutine, TypeVar

from websockets.asyncio.client import ClientConnection as AsyncSocket
from websockets.asyncio.client import connect as async_connect
from websockets.sync.client import ClientConnection as Socket
from websockets.sync.client import connect

T = TypeVar("T")

__all__ = [
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

sleep = time.sleep


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
