"""Uses the Python SDK against a platform, as the environment says; prints what it saw as JSON."""

import asyncio
import json
import sys
import tempfile
from pathlib import Path

import httpx

from managed_spark import AsyncClient, CellFailed, Client

PART, WORKSPACE, CLUSTER = sys.argv[1:4]
FOLDER = Path(tempfile.mkdtemp())


def script(name, text):
    file = FOLDER / name
    file.write_text(text)
    return file


class Cut(httpx.SyncByteStream):
    """The first piece of a body; then the connection breaks."""

    def __init__(self, stream):
        self.stream = stream
        self.bytes = 0

    def __iter__(self):
        # A slow machine may send several lines in the first piece, so the bytes are counted.
        piece = next(iter(self.stream))
        self.bytes = len(piece)
        yield piece
        raise httpx.ReadError("cut")

    def close(self):
        self.stream.close()


class BadNetwork(httpx.HTTPTransport):
    """Loses the answer of the first submission and of the first upload, and breaks the first stream of a log."""

    def __init__(self):
        super().__init__()
        self.lost = []
        self.offsets = []
        self.cut = None

    def handle_request(self, request):
        response = super().handle_request(request)
        path = request.url.path.rsplit("/", 1)[1]
        if request.method == "POST" and path in ("job", "files") and path not in self.lost:
            response.read()
            self.lost.append(path)
            raise httpx.ReadError("lost")
        if "follow" in request.url.params:
            self.offsets.append(int(request.url.params["offset"]))
            if len(self.offsets) == 1:
                response.stream = self.cut = Cut(response.stream)
        return response


def jobs():
    network = BadNetwork()
    with Client(http=network) as client:
        workspace = client.workspace(WORKSPACE)
        # The pauses let the log arrive in pieces.
        text = "import sys, time\nfor word in sys.argv[1:]:\n    print(word, flush=True)\n    time.sleep(0.3)\n"
        run = workspace.run(script("words.py", text), cluster=CLUSTER, args=["one", "two words", "é"], driver_memory="512m")
        lines = list(run.follow())
        done = run.result()
        return {
            "lines": lines,
            "status": done["job_status"],
            "to_date": done["to_date"],
            "is_int": isinstance(run.id, int),
            "tasks": run.metrics()["totals"]["tasks"],
            "lost": network.lost,
            "offsets": network.offsets,
            "received": network.cut.bytes,
            "runs": len(list(workspace.jobs.list(name="words"))),
        }


async def sessions(body, catalog):
    async with AsyncClient() as client:
        workspace = await client.workspace(WORKSPACE)
        seen = await asyncio.gather(
            notebook(workspace), records(workspace), life(client, body), catalogs(client, workspace, catalog)
        )
        return dict(zip(("notebook", "records", "life", "catalogs"), seen))


async def notebook(workspace):
    before = [one async for one in workspace.notebooks.list()]
    async with await workspace.notebook("sdk", cluster=CLUSTER, driver_memory="512m") as opened:
        cell = await opened.execute("print('hello')\nspark.range(1000).selectExpr('sum(id)').first()[0]")
        # The kernel's socket breaks between two cells.
        await opened.disconnect()
        live = [one["notebook_id"] async for one in workspace.notebooks.list(status=["RUNNING"])]
        try:
            await opened.execute("{}['x']")
        except CellFailed as failure:
            return [before, live == [opened.id], cell.text, cell.value, failure.name]


async def life(client, body):
    """Takes a cluster from its creation to its end."""
    statuses = []
    cluster = await client.clusters.create(**body)
    made = [isinstance(cluster.id, int), cluster.details == (await client.cluster(cluster.name)).details]
    await cluster.start(on_status=statuses.append)
    nodes = [node["node_status"] for node in cluster.details["nodes"]]
    await cluster.stop()
    stopped = [one.name async for one in client.clusters.list(status="STOPPED")]
    await cluster.destroy()
    return [made, sorted(set(statuses)), nodes, stopped, cluster.details["cluster_status"]]


async def catalogs(client, workspace, catalog):
    names = [one["name"] async for one in client.catalogs.list()]
    schemas = await client.catalogs.schemas(catalog, workspace=workspace.id)
    tables = await client.catalogs.tables(catalog, "crm", workspace=workspace.id)
    columns = await client.catalogs.columns(catalog, "crm", "customers", workspace=workspace.id)
    return [names, [one["name"] for one in schemas], [one["name"] for one in tables], len(columns)]


async def records(workspace):
    await workspace.files.write("data/a.txt", "hello")
    await workspace.files.download("data/a.txt", FOLDER / "a.txt")
    names = [file["file_name"] async for file in workspace.files.list("data")]
    await workspace.files.delete("data")
    await workspace.secrets.put("sdk-token", "first")
    await workspace.secrets.put("sdk-token", "second")
    secrets = [secret["name"] async for secret in workspace.secrets.list()]
    await workspace.secrets.delete("sdk-token")
    left = [secret["name"] async for secret in workspace.secrets.list()]
    return [(FOLDER / "a.txt").read_text(), names, secrets, left]


if __name__ == "__main__":
    print(json.dumps(jobs() if PART == "jobs" else asyncio.run(sessions(*map(json.loads, sys.argv[4:])))))
