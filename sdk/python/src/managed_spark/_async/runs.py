"""Runs of jobs, and functions that runs serve."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, AsyncIterator, Dict, Optional

import httpx

from .._generated import operations as ops
from .._lines import Lines
from .._operation import INTEGER
from .._ports import async_sleep
from .._waiting import Deadline, OnStatus, Pauses, backoff
from ..errors import RunFailed, Unreachable
from .transport import AsyncTransport, unpacked

if TYPE_CHECKING:
    from .._generated import types

FINISHED = frozenset({"DONE", "ERROR", "TERMINATED", "STOPPED", "KILLED"})
DAY = 24 * 3600.0

#: A stream without data for this time is reopened: its connection may be dead, or the job prints nothing.
SILENCE_SECONDS = 60.0
#: Number of times in a row that a stream is reopened without receiving a byte.
MAX_REOPENS = 10
#: Size of the part of a log that is read at once.
MAX_LOG_BYTES = 16 << 20


class AsyncRun:
    """One run of a job."""

    def __init__(self, transport: AsyncTransport, workspace_id: int, job_id: int) -> None:
        self._transport = transport
        self._path: Dict[str, Any] = {"workspace_id": workspace_id, "job_id": job_id}
        self.workspace_id = workspace_id
        self.id = job_id

    def __repr__(self) -> str:
        return f"<Run {self.id}>"

    @property
    def url(self) -> str:
        """The URL of the run in the API; its log is at `/log/stdout` below it."""
        return self._transport.settings.url + ops.get_job.path.format(**self._path)

    async def details(self) -> types.JobRead:
        return await self._transport.call(ops.get_job, self._path)

    async def status(self) -> str:
        return (await self.details())["job_status"]

    async def history(self) -> types.JobStatusHistory:
        return await self._transport.call(ops.get_job_status, self._path)

    async def metrics(self) -> types.JobMetrics:
        """Returns the metrics of the Spark application so far: totals, stages and executors."""
        return await self._transport.call(ops.get_job_metrics, self._path)

    async def cost(self) -> types.RunCost:
        """Returns the cost of the run: its share of the time of its nodes, until now or its end. `amount` is None without
        a price.
        """
        return await self._transport.call(ops.get_run_cost, {"workspace_id": self.workspace_id, "run_id": self.id})

    async def kill(self) -> None:
        """Requests the end of the run; `wait` returns once it has ended."""
        await self._transport.call(ops.kill_job, self._path)

    async def wait(self, timeout: float = DAY, *, on_status: Optional[OnStatus] = None) -> types.JobRead:
        """Waits until the run has ended, and returns it whatever its status."""
        return await self._reached(FINISHED, timeout, on_status)

    async def wait_until_running(self, timeout: float = 1800.0, *, on_status: Optional[OnStatus] = None) -> types.JobRead:
        """Waits until the run is RUNNING; raises RunFailed if it ends before that."""
        job = await self._reached(FINISHED | {"RUNNING"}, timeout, on_status)
        if job["job_status"] in FINISHED:
            raise self._failure(job)
        return job

    async def result(self, timeout: float = DAY, *, on_status: Optional[OnStatus] = None) -> types.JobRead:
        """Waits until the run is DONE, and returns it; raises RunFailed if it ends in another status."""
        job = await self.wait(timeout, on_status=on_status)
        if job["job_status"] != "DONE":
            raise self._failure(job)
        return job

    async def log(self, name: str = "stdout", *, last: Optional[int] = None) -> str:
        """Returns a log (`stdout`, `stderr` or `events`): its first 16 MiB, or its `last` lines."""
        query = {"file_size_bytes": MAX_LOG_BYTES} if last is None else {"last_n_lines": last}
        response = await self._transport.send(ops.get_job_log, {**self._path, "log_type": name}, query=query)
        return response.content.decode("utf-8", errors="replace")

    async def search_log(
        self, text: str, name: str = "stdout", *, backward: bool = False
    ) -> AsyncIterator[types.LogMatchRead]:
        """Yields the lines of a log that contain the text, ignoring case, each with its byte offset."""
        query: Dict[str, Any] = {"text": text, "direction": "backward" if backward else "forward"}
        path = {**self._path, "log_type": name}
        while True:
            found = await self._transport.call(ops.search_job_log, path, query=query)
            for match in found["matches"]:
                yield match
            following = found["next_offset"]
            # A server that repeats offsets must not keep the client in an endless loop.
            last = query.get("offset")
            if following is None or last is not None and (following >= last if backward else following <= last):
                return
            query["offset"] = following

    async def follow(
        self, name: str = "stdout", *, offset: int = 0, last: Optional[int] = None, timeout: float = DAY
    ) -> AsyncIterator[str]:
        """Yields the lines of a log until the run has ended, from a byte on or beginning with the `last` lines that it has
        now. A broken connection resumes at the byte where it broke.
        """
        async for line in self._lines(name, offset, timeout, is_followed=True, last=last):
            yield line

    async def lines(self, name: str = "stdout", *, timeout: float = DAY) -> AsyncIterator[str]:
        """Yields the lines that a log has by now, however many. A broken connection resumes at the byte where it broke."""
        async for line in self._lines(name, 0, timeout, is_followed=False):
            yield line

    async def _lines(
        self, name: str, offset: int, timeout: float, *, is_followed: bool, last: Optional[int] = None
    ) -> AsyncIterator[str]:
        deadline = Deadline(timeout, f"Job {self.id}")
        lines = Lines()
        failures = 0
        while True:
            deadline.check()
            try:
                response = await self._transport.send(
                    ops.get_job_log,
                    {**self._path, "log_type": name},
                    query={"follow": is_followed, **({"offset": offset} if last is None else {"last_n_lines": last})},
                    timeout=min(SILENCE_SECONDS, deadline.left + 1),
                    stream=True,
                )
                try:
                    log_offset = response.headers.get("x-log-offset", "")
                    offset = int(log_offset) if INTEGER.fullmatch(log_offset) else offset
                    # The answer says where the last lines begin, so a broken connection resumes by the byte.
                    last = None
                    async for piece in unpacked(response):
                        offset += len(piece)
                        failures = 0
                        for line in lines.feed(piece):
                            yield line
                        deadline.check()
                finally:
                    await response.aclose()
            except httpx.ReadTimeout:
                continue
            except httpx.RequestError as error:
                failures += 1
                if failures > MAX_REOPENS:
                    raise Unreachable(f"The log of job {self.id} broke off {failures} times: {error}") from error
                await async_sleep(backoff(failures))
                continue
            # A server that shuts down also ends its streams.
            if not is_followed or await self.status() in FINISHED:
                break
            await async_sleep(backoff(0))
        for line in lines.end():
            yield line

    async def _reached(
        self, statuses: frozenset[str], timeout: float, on_status: Optional[OnStatus]
    ) -> types.JobRead:
        pauses = Pauses(Deadline(timeout, f"Job {self.id}"), on_status)
        while True:
            job = await self.details()
            if job["job_status"] in statuses:
                return job
            await async_sleep(pauses.next(job["job_status"]))

    def _failure(self, job: types.JobRead) -> RunFailed:
        log = f"{self.url}/log/{'stderr' if job['job_status'] == 'ERROR' else 'stdout'}"
        return RunFailed(self.id, job["job_status"], job["reason_code"], job["reason"], log)


class AsyncFunction:
    """A Python function that a run serves: `fn(x=1)` calls it with `{"x": 1}`."""

    def __init__(self, transport: AsyncTransport, run: AsyncRun) -> None:
        self._transport = transport
        self.run = run

    async def __call__(self, **arguments: Any) -> Any:
        return await self.call(arguments)

    async def call(self, body: Any, *, timeout: float = 3660.0) -> Any:
        """Calls the function with any JSON value. A call whose answer is lost is not repeated, since it may have been
        executed.
        """
        path = {"workspace_id": self.run.workspace_id, "job_id": self.run.id}
        return await self._transport.call(ops.invoke_function, path, body=body, repeatable=False, timeout=timeout)

    async def stop(self, timeout: float = 600.0) -> None:
        await self.run.kill()
        await self.run.wait(timeout)

    async def __aenter__(self) -> AsyncFunction:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.stop()
