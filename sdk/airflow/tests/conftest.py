"""A platform in memory for the SDK, which remembers the runs that it was asked for."""

from __future__ import annotations

import json
from typing import Any, Dict, Iterator, List

import httpx
import pytest

from managed_spark import Client, Settings


class Platform(httpx.BaseTransport):
    """Submits each Idempotency-Key once, and lists the runs that have not ended."""

    def __init__(self) -> None:
        self.runs: List[Dict[str, Any]] = []
        self.keys: Dict[str, int] = {}
        self.confs: Dict[str, Dict[str, Any]] = {}
        #: Answers to submissions that get lost on their way back.
        self.lost = 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request.read()
        path = request.url.path.rsplit("/", 1)[1]
        if request.method == "POST" and path == "job":
            return self._submit(request)
        if path == "jobs":
            return self._list(request)
        if path == "workspace":
            return httpx.Response(200, json={"workspace_id": 3, "name": "demo"})
        job = self.runs[int(path) - 1]
        if job["job_status"] in ("STOPPING", "KILLING"):
            # The next look sees it ended.
            job["job_status"] = "STOPPED"
        return httpx.Response(200, json=job)

    def _submit(self, request: httpx.Request) -> httpx.Response:
        key = request.headers["Idempotency-Key"]
        if key not in self.keys:
            body = json.loads(request.content)
            self.keys[key] = len(self.runs) + 1
            self.runs.append(
                {"job_id": self.keys[key], "job_status": "RUNNING", "conf": body["conf"], "name": body["job_conf_name"]}
            )
        if self.lost:
            self.lost -= 1
            raise httpx.ReadError("lost")
        return httpx.Response(200, json={"job_id": str(self.keys[key])})

    def _list(self, request: httpx.Request) -> httpx.Response:
        params = request.url.params
        found = [
            run
            for run in self.runs
            if run["job_status"] in params.get_list("job_status") and run["name"] == params["job_conf_name"]
        ]
        return httpx.Response(200, json={"data": found, "result_set": {}})


@pytest.fixture
def platform() -> Platform:
    return Platform()


@pytest.fixture
def client(platform: Platform, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    for module in ("transport", "runs"):
        monkeypatch.setattr(f"managed_spark._sync.{module}.sleep", lambda seconds: None)
    with Client(settings=Settings("https://spark.test", token="t-1"), http=platform) as made:
        yield made
