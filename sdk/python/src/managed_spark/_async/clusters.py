"""Clusters and metastore catalogs."""

from __future__ import annotations

from typing import TYPE_CHECKING, AsyncIterator, List, Optional

from .._generated import operations as ops
from .._ports import async_sleep
from .._text import printable
from .._waiting import Deadline, OnStatus, Pauses
from ..errors import ClusterFailed, Conflict
from .transport import AsyncTransport, Ref, chosen

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._generated import types

#: A cloud may take this long to create machines.
START_SECONDS = 1800.0


class AsyncCluster:
    def __init__(self, transport: AsyncTransport, details: types.ClusterRead) -> None:
        self._transport = transport
        self.id = details["cluster_id"]
        self.name = details["name"]
        #: The record as it was last read; `refresh()` reads it again.
        self.details = details

    def __repr__(self) -> str:
        return f"<Cluster {self.id} {printable(self.name)}>"

    async def refresh(self) -> types.ClusterRead:
        self.details = await self._transport.call(ops.get_cluster, query={"cluster_id": self.id})
        return self.details

    async def start(
        self, *, wait: bool = True, timeout: float = START_SECONDS, on_status: Optional[OnStatus] = None
    ) -> None:
        await self._transport.call(ops.start_cluster, body={"cluster_id": self.id})
        if wait:
            await self.wait_for("RUNNING", timeout, on_status=on_status)

    async def stop(
        self, *, wait: bool = True, timeout: float = START_SECONDS, on_status: Optional[OnStatus] = None
    ) -> None:
        await self._transport.call(ops.stop_cluster, body={"cluster_id": self.id})
        if wait:
            await self.wait_for("STOPPED", timeout, on_status=on_status)

    async def resize(self, *, minimum: Optional[int] = None, maximum: Optional[int] = None) -> types.ClusterResize:
        """Changes the minimum, the maximum or both of a running cluster, and returns what follows for its nodes without waiting for it."""
        bounds = {"min_instances": minimum, "max_instances": maximum}
        sent = {name: value for name, value in bounds.items() if value is not None}
        return await self._transport.call(ops.resize_cluster, body={"cluster_id": self.id, **sent})

    async def destroy(
        self, *, wait: bool = True, timeout: float = START_SECONDS, on_status: Optional[OnStatus] = None
    ) -> None:
        await self._transport.call(ops.destroy_cluster, body={"cluster_id": self.id})
        if wait:
            await self.wait_for("DESTROYED", timeout, on_status=on_status)

    async def step_to(self, status: str) -> bool:
        """Takes one step towards RUNNING or STOPPED, and returns True once the cluster is there. Call it repeatedly: it works from
        any status. Raises ClusterFailed if that status cannot be reached.
        """
        found = (await self.refresh())["cluster_status"]
        if found == status:
            return True
        if found in ("ERROR", "DESTROYING", "DESTROYED"):
            raise ClusterFailed(self.id, found, await self._last_reason())
        # In any other status the cluster is in transition, to this status or to the one from which it can be started or
        # stopped.
        turned = {"RUNNING": ("STOPPED", self.start), "STOPPED": ("RUNNING", self.stop)}
        turning_point, turn = turned[status]
        if found == turning_point:
            try:
                await turn(wait=False)
            except Conflict:
                # Somebody else has changed its status meanwhile; the next call reads the new one.
                return False
        return False

    async def wait_for(
        self, status: str, timeout: float = START_SECONDS, *, on_status: Optional[OnStatus] = None
    ) -> types.ClusterRead:
        """Waits until the cluster has this status; raises ClusterFailed if it ends up in ERROR or DESTROYED."""
        pauses = Pauses(Deadline(timeout, f"Waiting for cluster {self.name} to become {status}"), on_status)
        while True:
            found = await self.refresh()
            if found["cluster_status"] == status:
                return found
            if found["cluster_status"] in ("ERROR", "DESTROYED"):
                raise ClusterFailed(self.id, found["cluster_status"], await self._last_reason())
            await async_sleep(pauses.next(found["cluster_status"]))

    async def _last_reason(self) -> Optional[str]:
        async for event in self._transport.pages(ops.list_cluster_states, query={"cluster_id": self.id, "limit": 1}):
            return event["reason"]
        return None


class AsyncClusters:
    """The clusters of the tenant."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def get(self, cluster: Ref) -> AsyncCluster:
        return AsyncCluster(
            self._transport, await self._transport.call(ops.get_cluster, query=chosen("cluster", cluster))
        )

    async def create(self, **fields: Unpack[types.CreateCluster]) -> AsyncCluster:
        """Creates a cluster without starting it."""
        created = await self._transport.call(ops.create_cluster, body=fields)
        return await self.get(created["cluster_id"])

    async def list(self, *, status: Optional[str] = None) -> AsyncIterator[AsyncCluster]:
        async for details in self._transport.pages(ops.list_clusters, query={"cluster_status": status}):
            yield AsyncCluster(self._transport, details)


class AsyncCatalogs:
    """The metastore catalogs of the tenant, and the tables in them."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def list(self) -> AsyncIterator[types.MetastoreCatalogRead]:
        async for catalog in self._transport.pages(ops.list_metastore_catalogs):
            yield catalog

    async def schemas(self, catalog_id: int, *, workspace: int, catalog: Optional[str] = None) -> List[types.BrowseSchema]:
        """Returns the schemas that the secrets of this workspace can see."""
        query = {"workspace_id": workspace, "catalog_name": catalog}
        return await self._transport.call(ops.browse_schemas, {"metastore_catalog_id": catalog_id}, query=query)

    async def tables(
        self, catalog_id: int, schema: str, *, workspace: int, catalog: Optional[str] = None
    ) -> List[types.BrowseTable]:
        query = {"workspace_id": workspace, "schema_name": schema, "catalog_name": catalog}
        return await self._transport.call(ops.browse_tables, {"metastore_catalog_id": catalog_id}, query=query)

    async def columns(
        self, catalog_id: int, schema: str, table: str, *, workspace: int, catalog: Optional[str] = None
    ) -> List[types.BrowseColumn]:
        query = {"workspace_id": workspace, "schema_name": schema, "table_name": table, "catalog_name": catalog}
        return await self._transport.call(ops.browse_columns, {"metastore_catalog_id": catalog_id}, query=query)
