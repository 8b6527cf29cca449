"""Sockets to kernels, with a server on this machine."""

from __future__ import annotations

import asyncio
import http
import json
import logging
import threading
from typing import Any, Iterator, List

import pytest
from websockets.sync.server import Server, ServerConnection, serve

from managed_spark import AsyncClient, Client, Settings

TOKEN = "secret-1"


class Kernel:
    """Answers each execute request, or redirects its clients if it has a location."""

    def __init__(self) -> None:
        self.asked: List[Any] = []
        self.location = ""
        self.server: Server = serve(self.converse, "127.0.0.1", 0, process_request=self.open)
        self.port = self.server.socket.getsockname()[1]

    def open(self, connection: ServerConnection, request: Any) -> Any:
        self.asked.append((request.path, request.headers.get("Authorization")))
        if not self.location:
            return None
        response = connection.respond(http.HTTPStatus.FOUND, "")
        response.headers["Location"] = self.location
        return response

    def converse(self, connection: ServerConnection) -> None:
        for message in connection:
            parent = {"msg_id": json.loads(message)["header"]["msg_id"]}
            # Code in a kernel can send anything.
            for noise in ("[" * 100_000, "no JSON", "null", '{"parent_header": 1}'):
                connection.send(noise)
            connection.send(json.dumps({"msg_type": "execute_reply", "parent_header": parent, "content": {"status": "ok"}}))


@pytest.fixture
def kernel() -> Iterator[Kernel]:
    made = Kernel()
    thread = threading.Thread(target=made.server.serve_forever)
    thread.start()
    yield made
    made.server.shutdown()
    thread.join()


def execute(kernel: Kernel, is_asynchronous: bool) -> None:
    settings = Settings(f"http://127.0.0.1:{kernel.port}", token=TOKEN)

    async def main() -> None:
        async with AsyncClient(settings=settings) as client:
            notebook = client.notebook(3, 7)
            await notebook.execute("1")
            await notebook.disconnect()

    if is_asynchronous:
        asyncio.run(main())
        return
    with Client(settings=settings) as client:
        notebook = client.notebook(3, 7)
        notebook.execute("1")
        notebook.disconnect()


@pytest.mark.parametrize("is_asynchronous", [True, False])
def test_the_token_is_in_no_address_and_no_log(
    kernel: Kernel, monkeypatch: pytest.MonkeyPatch, caplog: Any, is_asynchronous: bool
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    caplog.set_level(logging.DEBUG)
    # The logs of the server in this test would contain what it received.
    logging.getLogger("websockets.server").setLevel(logging.INFO)
    execute(kernel, is_asynchronous)
    assert kernel.asked == [("/api/v1/workspace/3/notebook/7/kernel/socket", f"Bearer {TOKEN}")]
    assert TOKEN not in caplog.text


@pytest.mark.parametrize("is_asynchronous", [True, False])
def test_a_redirect_takes_the_token_nowhere(kernel: Kernel, is_asynchronous: bool) -> None:
    other = Kernel()
    thread = threading.Thread(target=other.server.serve_forever)
    thread.start()
    kernel.location = f"ws://127.0.0.1:{other.port}/elsewhere"
    try:
        with pytest.raises(Exception, match="302"):
            execute(kernel, is_asynchronous)
    finally:
        other.server.shutdown()
        thread.join()
    assert other.asked == []
