"""A platform in memory, which answers what a test tells it to."""

from __future__ import annotations

from typing import Any, Callable, Iterator, List, Optional, Union

import httpx
import pytest

from managed_spark import Client, Settings
from managed_spark._sync import runs, transport

Answer = Union[httpx.Response, Exception]
Handler = Callable[[httpx.Request], Answer]


class Platform(httpx.BaseTransport):
    """Records requests, and answers each with the next answer that was given, or by the handler."""

    def __init__(self) -> None:
        self.requests: List[httpx.Request] = []
        self.answers: List[Answer] = []
        self.handler: Optional[Handler] = None

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request.read()
        self.requests.append(request)
        answer = self.handler(request) if self.handler else self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def page(records: List[Any], following: Optional[int] = None) -> httpx.Response:
    place = {"current_page": 1, "total_objects": 0, "total_pages": 0, "limit": 100}
    return httpx.Response(200, json={"data": records, "result_set": {**place, **({"next_page": following} if following else {})}})


def refused(status: int, code: str, **more: Any) -> httpx.Response:
    headers = more.pop("headers", None)
    body = {"error": "no", "error_code": code, "error_message": "No.", "details": more, "correlation_id": "c-1"}
    return httpx.Response(status, json=body, headers=headers)


@pytest.fixture
def platform() -> Platform:
    return Platform()


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> List[float]:
    """The pauses that the client made; none of them takes time."""
    taken: List[float] = []
    monkeypatch.setattr(transport, "sleep", taken.append)
    monkeypatch.setattr(runs, "sleep", taken.append)
    return taken


@pytest.fixture
def client(platform: Platform, pauses: List[float]) -> Iterator[Client]:
    with Client(settings=Settings("https://spark.test", token="t-1"), http=platform) as made:
        yield made
