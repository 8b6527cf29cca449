"""The client, from which everything else is reached."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, AsyncIterator, Mapping, Optional, TypeVar

import httpx

from .._generated import operations as ops
from .._operation import Operation, PagedOperation
from ..settings import Settings, load_settings
from .clusters import AsyncCatalogs, AsyncCluster, AsyncClusters
from .notebooks import AsyncNotebook
from .runs import AsyncRun
from .transport import AsyncTransport, Ref, chosen
from .workspaces import AsyncWorkspace

if TYPE_CHECKING:
    from .._generated import types

T = TypeVar("T")


class AsyncClient:
    """A client of the platform. Address and credentials come from the environment, a profile or a quickstart."""

    def __init__(
        self,
        profile: Optional[str] = None,
        *,
        settings: Optional[Settings] = None,
        http: Optional[httpx.AsyncBaseTransport] = None,
    ) -> None:
        self.settings = settings or load_settings(profile)
        self._transport = AsyncTransport(self.settings, http)
        self.clusters = AsyncClusters(self._transport)
        self.catalogs = AsyncCatalogs(self._transport)

    async def workspace(self, workspace: Ref) -> AsyncWorkspace:
        """Returns the workspace of this name, or of this id if it is a number."""
        found = await self._transport.call(ops.get_workspace, query=chosen("workspace", workspace))
        return AsyncWorkspace(self._transport, found)

    async def workspaces(self) -> AsyncIterator[AsyncWorkspace]:
        async for details in self._transport.pages(ops.list_workspaces):
            yield AsyncWorkspace(self._transport, details)

    async def create_workspace(self, name: str, *, description: Optional[str] = None) -> AsyncWorkspace:
        body = {"name": name, "description": description}
        created = await self._transport.call(ops.create_workspace, body=body)
        return await self.workspace(created["workspace_id"])

    async def cluster(self, cluster: Ref) -> AsyncCluster:
        return await self.clusters.get(cluster)

    def run(self, workspace_id: int, job_id: int) -> AsyncRun:
        """Returns a run whose ids are known, without a request."""
        return AsyncRun(self._transport, workspace_id, job_id)

    def notebook(self, workspace_id: int, notebook_id: int) -> AsyncNotebook:
        """Returns an instance of a notebook whose ids are known, without a request."""
        return AsyncNotebook(self._transport, workspace_id, notebook_id)

    async def user(self) -> types.UserInfo:
        return await self._transport.call(ops.get_user_info)

    async def call(
        self,
        operation: Operation[T],
        path: Optional[Mapping[str, Any]] = None,
        *,
        query: Optional[Mapping[str, Any]] = None,
        body: Any = None,
    ) -> T:
        """Calls any operation of the API, including those without a method here: `client.call(operations.list_groups)`."""
        return await self._transport.call(operation, path, query=query, body=body)

    async def pages(
        self,
        operation: PagedOperation[T],
        path: Optional[Mapping[str, Any]] = None,
        *,
        query: Optional[Mapping[str, Any]] = None,
    ) -> AsyncIterator[T]:
        """Yields the records of all pages of an operation."""
        async for record in self._transport.pages(operation, path, query=query):
            yield record

    def set_timeout(self, seconds: float) -> None:
        """Sets the timeout of a request, and of its retries together, in seconds. Both are a minute by default."""
        self._transport.set_timeout(seconds)

    async def close(self) -> None:
        await self._transport.close()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()
