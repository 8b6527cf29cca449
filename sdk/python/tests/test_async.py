from __future__ import annotations

import asyncio
from typing import AsyncIterator, List

import httpx

from managed_spark import AsyncClient, Settings


class Stream(httpx.AsyncByteStream):
    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield b"one\n"
        yield b"two\n"


def test_the_asynchronous_twin_does_the_same() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        path = request.url.path
        if path.endswith("/log/stdout"):
            return httpx.Response(200, headers={"x-log-offset": "0"}, stream=Stream())
        if path.endswith("/job/7"):
            return httpx.Response(200, json={"job_id": 7, "job_status": "DONE", "to_date": "infinity"})
        return httpx.Response(200, json={"workspace_id": 3, "name": "demo"})

    async def main() -> List[str]:
        settings = Settings("https://spark.test", token="t")
        async with AsyncClient(settings=settings, http=httpx.MockTransport(answer)) as client:
            run = (await client.workspace("demo")).jobs.get(7)
            lines = [line async for line in run.follow()]
            assert (await run.result())["to_date"] is None
            return lines

    assert asyncio.run(main()) == ["one", "two"]
