"""What asyncio and blocking code do differently. Everything else is written once, in `_async`; the build makes `_sync`."""

from __future__ import annotations

import asyncio
import time
from typing import Any, Callable, TypeVar

from websockets.asyncio.client import ClientConnection as AsyncSocket
from websockets.asyncio.client import connect as async_connect
from websockets.sync.client import ClientConnection as Socket
from websockets.sync.client import connect

T = TypeVar("T")

__all__ = [
    "AsyncSocket",
    "Socket",
    "async_blocking",
    "async_connect",
    "async_receive",
    "async_sleep",
    "blocking",
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
