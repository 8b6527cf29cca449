"""Notebooks, whose cells a kernel executes."""

from __future__ import annotations

import json
import uuid
from typing import TYPE_CHECKING, Any, AsyncIterator, Dict, List, Literal, Optional, Sequence

import httpx
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus

from .._cells import Cell, CodeCell, code_cells
from .._generated import operations as ops
from .._ports import SOCKETS, AsyncSocket, async_connect, async_receive, async_sleep
from .._waiting import Deadline, OnStatus, Pauses, backoff
from ..errors import Conflict, NotFound, RunFailed, Unreachable, error_of
from ..settings import is_local
from .runs import DAY, FINISHED
from .transport import NAME_TAKEN, AsyncTransport, Ref, chosen

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._generated import types

MAX_RECONNECTS = 5
#: Limits of the size of a kernel's message, and of the number that are buffered.
MAX_MESSAGE_BYTES = 64 << 20
MAX_QUEUED_MESSAGES = 16


class AsyncNotebook:
    """A notebook with a running kernel."""

    def __init__(self, transport: AsyncTransport, workspace_id: int, notebook_id: int) -> None:
        self._transport = transport
        self._path = {"workspace_id": workspace_id, "notebook_id": notebook_id}
        self._socket: Optional[AsyncSocket] = None
        self.workspace_id = workspace_id
        self.id = notebook_id

    def __repr__(self) -> str:
        return f"<Notebook {self.id}>"

    @property
    def url(self) -> str:
        """The URL of the instance in the API; its log is at `/log/stderr` below it."""
        return self._transport.settings.url + ops.get_notebook.path.format(**self._path)

    async def details(self) -> types.NotebookRead:
        return await self._transport.call(ops.get_notebook, self._path)

    async def wait_until_running(self, timeout: float = 1800.0, *, on_status: Optional[OnStatus] = None) -> None:
        """Waits until the kernel can execute cells; raises RunFailed if the instance ends before that."""
        pauses = Pauses(Deadline(timeout, f"Notebook {self.id}"), on_status)
        while True:
            found = await self.details()
            status = found["notebook_status"]
            if status == "RUNNING":
                return
            if status in FINISHED:
                log = f"{self.url}/log/stderr"
                raise RunFailed(self.id, status, found["reason_code"], found["reason"], log, "Notebook")
            await async_sleep(pauses.next(status))

    async def cells(self) -> List[CodeCell]:
        """Returns the code cells of the notebook as it was when this instance was started."""
        path = {"workspace_id": self.workspace_id, "notebook_id": self.id}
        return code_cells((await self._transport.send(ops.download_notebook_run, path)).content)

    async def run_cells(self, *, timeout: float = DAY) -> AsyncIterator[Cell]:
        """Executes the cells of the notebook in order, and yields each when it is done; raises CellFailed at the first that
        raises an exception. The platform stores the outputs in the notebook. An instance executes each cell only once: when
        called again, even by another process, this continues where it stopped.
        """
        deadline = Deadline(timeout, f"Notebook {self.id}")
        for cell in await self.cells():
            yield await self.execute(cell.code, timeout=deadline.left, cell_id=cell.id)

    async def execute(self, code: str, *, timeout: float = 3600.0, cell_id: Optional[str] = None) -> Cell:
        """Executes code exactly once, even if the connection breaks; raises CellFailed if the code raises an exception.

        With `cell_id`, the outputs are stored in that cell of the notebook.
        """
        deadline = Deadline(timeout, f"The cell in notebook {self.id}")
        cell = Cell(cell_id or f"sdk-{uuid.uuid4()}")
        request = {"header": {"msg_id": cell.id, "msg_type": "execute_request"}, "content": {"code": code}}
        broken = 0
        while True:
            try:
                if self._socket is None:
                    self._socket = await self._connect()
                # The kernel knows the id: sent again, it answers with the same reply and executes nothing.
                await self._socket.send(json.dumps(request))
                while not cell.add(await self._message(self._socket, deadline)):
                    pass
                return cell.result()
            except InvalidStatus as refusal:
                response = refusal.response
                if response.status_code < 500 and response.status_code != 429:
                    raise error_of(httpx.Response(response.status_code, content=bytes(response.body))) from None
                broken = await self._pause(broken, refusal)
            except (ConnectionClosed, InvalidHandshake, OSError) as error:
                if isinstance(error, TimeoutError):
                    raise
                self._socket = None
                broken = await self._pause(broken, error)

    async def interrupt(self) -> None:
        await self._transport.call(ops.interrupt_kernel, self._path)

    async def kill(self) -> None:
        """Requests the end of the kernel without waiting for it; the notebook and its outputs are kept."""
        await self._transport.call(ops.kill_notebook, self._path)

    async def stop(self, timeout: float = 600.0) -> None:
        """Stops the kernel and waits until it has ended; the notebook and its outputs are kept."""
        await self.disconnect()
        await self.kill()
        await self.wait_until_stopped(timeout)

    async def wait_until_stopped(self, timeout: float = 600.0) -> None:
        """Waits until the instance has ended."""
        pauses = Pauses(Deadline(timeout, f"Stopping notebook {self.id}"))
        while True:
            status = (await self.details())["notebook_status"]
            if status in FINISHED:
                return
            await async_sleep(pauses.next(status))

    async def disconnect(self) -> None:
        socket, self._socket = self._socket, None
        if socket is not None:
            await socket.close()

    async def __aenter__(self) -> AsyncNotebook:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.stop()

    async def _pause(self, broken: int, error: Exception) -> int:
        if broken >= MAX_RECONNECTS:
            raise Unreachable(f"The socket to notebook {self.id} broke {broken + 1} times: {error}") from None
        await async_sleep(backoff(broken))
        return broken + 1

    async def _connect(self) -> AsyncSocket:
        token = await self._transport.token()
        url = f"ws{self.url[len('http'):]}/kernel/socket"
        # A token in the path would appear in the logs of servers and proxies.
        headers = {"Authorization": f"Bearer {token}"}
        # Connections to this machine bypass the proxy of the environment, which would take the token to another machine.
        proxy: Optional[Literal[True]] = None if is_local(url) else True
        socket: Any = await async_connect(
            url,
            create_connection=AsyncSocket,
            additional_headers=headers,
            max_size=MAX_MESSAGE_BYTES,
            max_queue=MAX_QUEUED_MESSAGES,
            open_timeout=30,
            proxy=proxy,
            logger=SOCKETS,
        )
        opened: AsyncSocket = socket
        return opened

    async def _message(self, socket: AsyncSocket, deadline: Deadline) -> Dict[str, Any]:
        while True:
            deadline.check()
            try:
                message = json.loads(await async_receive(socket, min(deadline.left, 30.0)))
            except TimeoutError:
                continue
            except (ValueError, RecursionError):
                # Code in a kernel can send anything; messages that are not JSON are ignored.
                continue
            if isinstance(message, dict):
                return message


class AsyncNotebooks:
    """The notebooks of a workspace and their instances."""

    def __init__(self, transport: AsyncTransport, workspace_id: int) -> None:
        self._transport = transport
        self._path = {"workspace_id": workspace_id}

    async def list(self, *, status: Optional[Sequence[str]] = None) -> AsyncIterator[types.NotebookRead]:
        """Yields instances, the newest first."""
        try:
            async for notebook in self._transport.pages(
                ops.list_notebooks, self._path, query={"notebook_status": status}
            ):
                yield notebook
        except NotFound:
            # This operation answers 404 instead of an empty list.
            return

    def get(self, notebook_id: int) -> AsyncNotebook:
        return AsyncNotebook(self._transport, self._path["workspace_id"], notebook_id)

    async def define(
        self,
        name: str,
        cluster: Ref,
        *,
        language: str = "python3",
        path: Optional[str] = None,
        **settings: Unpack[types.NotebookSettings],
    ) -> None:
        """Creates the notebook, or updates the one of this name; settings that are not given keep their values.

        `path` is its .ipynb file in the workspace, `<name>.ipynb` by default. An existing file becomes the notebook.
        """
        body: Dict[str, Any] = {**chosen("cluster", cluster), **settings}
        file = {} if path is None else {"notebook_path": path}
        try:
            created = {**body, **file, "notebook_name": name, "notebook_type": language}
            await self._transport.call(ops.create_notebook_conf, self._path, body=created)
        except Conflict as conflict:
            if conflict.code != NAME_TAKEN:
                raise
            await self._transport.call(ops.update_notebook_conf, self._path, query={"notebook_name": name}, body=body)

    async def start(
        self, name: str, *, conf: Optional[Sequence[str]] = None, idempotency_key: Optional[str] = None
    ) -> AsyncNotebook:
        """Starts an instance of a notebook without waiting for its kernel. The same key returns the same instance."""
        body: Dict[str, Any] = {"notebook_name": name, **({} if conf is None else {"conf": list(conf)})}
        created = await self._transport.call(
            ops.create_notebook, self._path, body=body, idempotency_key=idempotency_key
        )
        return self.get(created["notebook_id"])

    async def exists(self, name: str) -> bool:
        try:
            await self._transport.call(ops.get_notebook_conf, self._path, query={"notebook_name": name})
        except NotFound:
            return False
        return True

    async def delete(self, name: str) -> None:
        """Deletes a notebook that has no unfinished instances; its file is kept."""
        await self._transport.call(ops.delete_notebook_conf, self._path, query={"notebook_name": name})

    async def export(self, name: str) -> bytes:
        """Returns the notebook with its outputs, as the content of an .ipynb file."""
        query = {"notebook_name": name}
        return (await self._transport.send(ops.export_notebook_conf, self._path, query=query)).content
