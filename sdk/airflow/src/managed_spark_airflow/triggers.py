"""Triggers of deferred tasks, which occupy no worker while they wait."""

from __future__ import annotations

import asyncio
import time
from typing import Any, AsyncIterator, Dict, Optional, Tuple

from airflow.triggers.base import BaseTrigger, TriggerEvent
from managed_spark import (
    AsyncClient,
    AsyncNotebook,
    CellFailed,
    Conflict,
    DeadlineExceeded,
    ManagedSparkError,
    Overloaded,
    RunFailed,
    Unreachable,
)

from .hook import ManagedSparkHook
from .task_try import lines_of

FINISHED = frozenset({"DONE", "ERROR", "TERMINATED", "STOPPED", "KILLED"})
DAY = 24 * 3600.0
#: Default interval of polls. A triggerer may wait for a thousand runs.
POLL_SECONDS = 10.0


class _Trigger(BaseTrigger):
    """Base class of the triggers. Its deadline is a wall-clock time, which survives a restart of the triggerer."""

    def __init__(self, conn_id: str, ends_at: Optional[float], poll_seconds: float = POLL_SECONDS) -> None:
        super().__init__()
        self.conn_id = conn_id
        self.ends_at = ends_at
        self.poll_seconds = poll_seconds

    def serialize(self) -> Tuple[str, Dict[str, Any]]:
        given = {"conn_id": self.conn_id, "ends_at": self.ends_at, "poll_seconds": self.poll_seconds, **self.subject()}
        return f"{type(self).__module__}.{type(self).__name__}", given

    def subject(self) -> Dict[str, Any]:
        """Returns what is waited for: arguments of the constructor, and a part of the event."""
        raise NotImplementedError

    async def poll(self, client: AsyncClient) -> Optional[Dict[str, Any]]:
        """Polls once. Returns the event that ends the wait; None to continue."""
        raise NotImplementedError

    async def client(self) -> AsyncClient:
        return await ManagedSparkHook(self.conn_id).async_client()

    @property
    def left(self) -> Optional[float]:
        return None if self.ends_at is None else self.ends_at - time.time()

    async def run(self) -> AsyncIterator[TriggerEvent]:
        async with await self.client() as client:
            while True:
                if self.left is not None and self.left <= 0:
                    yield TriggerEvent({**self.subject(), "timed_out": True})
                    return
                try:
                    event = await self.poll(client)
                except (Unreachable, Overloaded) as error:
                    # Runs and clusters continue while the API is down, for example during an upgrade.
                    self.log.warning("%s The task keeps waiting.", error)
                    event = None
                if event is not None:
                    yield TriggerEvent({**self.subject(), **event})
                    return
                await asyncio.sleep(self.poll_seconds if self.left is None else max(0.0, min(self.poll_seconds, self.left)))


class RunTrigger(_Trigger):
    """Waits until a run has ended."""

    def __init__(self, workspace_id: int, job_id: int, **more: Any) -> None:
        super().__init__(**more)
        self.workspace_id = workspace_id
        self.job_id = job_id

    def subject(self) -> Dict[str, Any]:
        return {"workspace_id": self.workspace_id, "job_id": self.job_id}

    async def poll(self, client: AsyncClient) -> Optional[Dict[str, Any]]:
        status = await client.run(self.workspace_id, self.job_id).status()
        return {"status": status} if status in FINISHED else None

    async def on_kill(self) -> None:
        """Stops the run of a deferred task that a user ends; Airflow 3.3 and newer call this."""
        async with await self.client() as client:
            try:
                await client.run(self.workspace_id, self.job_id).kill()
            except Conflict:
                # It has already ended by itself.
                return


class NotebookTrigger(_Trigger):
    """Executes the cells of a notebook instance. If the triggerer ends, another one continues without executing a cell
    twice.
    """

    def __init__(self, workspace_id: int, notebook_id: int, **more: Any) -> None:
        super().__init__(**more)
        self.workspace_id = workspace_id
        self.notebook_id = notebook_id

    def subject(self) -> Dict[str, Any]:
        return {"workspace_id": self.workspace_id, "notebook_id": self.notebook_id}

    async def poll(self, client: AsyncClient) -> Optional[Dict[str, Any]]:
        notebook = client.notebook(self.workspace_id, self.notebook_id)
        try:
            await self._execute(notebook)
        except DeadlineExceeded:
            return {"timed_out": True}
        except CellFailed as failure:
            return {"failure": str(failure), "traceback": failure.traceback}
        except RunFailed as failure:
            return {"failure": str(failure), "traceback": []}
        finally:
            await notebook.disconnect()
        return {"failure": None}

    async def _execute(self, notebook: AsyncNotebook) -> None:
        left = DAY if self.left is None else max(0.0, self.left)
        await notebook.wait_until_running(left)
        async for cell in notebook.run_cells(timeout=left):
            for line in lines_of(cell):
                self.log.info("%s", line)

    async def on_kill(self) -> None:
        """Stops the kernel of a deferred task that a user ends; Airflow 3.3 and newer call this."""
        async with await self.client() as client:
            try:
                await client.notebook(self.workspace_id, self.notebook_id).kill()
            except Conflict:
                # It has already ended by itself.
                return


class ClusterTrigger(_Trigger):
    """Waits until a cluster has reached a status."""

    def __init__(self, cluster_id: int, status: str, **more: Any) -> None:
        super().__init__(**more)
        self.cluster_id = cluster_id
        self.status = status

    def subject(self) -> Dict[str, Any]:
        return {"cluster_id": self.cluster_id, "status": self.status}

    async def poll(self, client: AsyncClient) -> Optional[Dict[str, Any]]:
        try:
            cluster = await client.cluster(self.cluster_id)
            return {"failure": None} if await cluster.step_to(self.status) else None
        except (Unreachable, Overloaded):
            raise
        except ManagedSparkError as failure:
            return {"failure": str(failure)}
