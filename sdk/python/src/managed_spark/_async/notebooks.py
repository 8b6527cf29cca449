"""Notebooks, whose cells a kernel executes."""

from __future__ import annotations

import json
import uuid
from typing import TYPE_CHECKING, Any, Dict, Optional

import httpx
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus

from .._cells import Cell
from .._generated import operations as ops
from .._ports import AsyncSocket, async_connect, async_receive, async_sleep
from .._waiting import Deadline, Pauses, backoff
from ..errors import RunFailed, Unreachable, error_of
from .runs import FINISHED
from .transport import AsyncTransport

if TYPE_CHECKING:
    from .._generated import types

RECONNECTS = 5
#: The largest message of a kernel that is read, and the most messages of it that wait.
MESSAGE_BYTES = 64 << 20
MESSAGES_WAITING = 16


class AsyncNotebook:
    """A notebook with a running kernel."""

    def __init__(self, transport: AsyncTransport, workspace_id: int, notebook_id: int) -> None:
        self._transport = transport
        self._path = {"workspace_id": workspace_id, "notebook_id": notebook_id}
        self._socket: Optional[AsyncSocket] = None
        self._session = f"{uuid.uuid4().hex}_session"
        self.id = notebook_id

    async def details(self) -> types.NotebookRead:
        return await self._transport.call(ops.get_notebook, self._path)

    async def running(self, timeout: float = 1800.0) -> None:
        pauses = Pauses(Deadline(timeout, f"Notebook {self.id}"))
        while True:
            found = await self.details()
            if found["notebook_status"] == "RUNNING":
                return
            if found["notebook_status"] in FINISHED:
                log = self._transport.settings.url + ops.get_notebook.path.format(**self._path) + "/log/stderr"
                raise RunFailed(self.id, found["notebook_status"], found["reason_code"], found["reason"], log)
            await async_sleep(pauses.next())

    async def execute(self, code: str, *, timeout: float = 3600.0) -> Cell:
        """Executes code once, also if the connection breaks meanwhile; throws a CellFailed if it raises an exception."""
        deadline = Deadline(timeout, f"The cell in notebook {self.id}")
        cell = Cell(f"sdk-{uuid.uuid4()}")
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

    async def stop(self, timeout: float = 600.0) -> None:
        """Stops the kernel; the notebook and its outputs stay."""
        await self.disconnect()
        await self._transport.call(ops.kill_notebook, self._path)
        pauses = Pauses(Deadline(timeout, f"The stop of notebook {self.id}"))
        while (await self.details())["notebook_status"] not in FINISHED:
            await async_sleep(pauses.next())

    async def disconnect(self) -> None:
        socket, self._socket = self._socket, None
        if socket is not None:
            await socket.close()

    async def __aenter__(self) -> AsyncNotebook:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.stop()

    async def _pause(self, broken: int, error: Exception) -> int:
        if broken >= RECONNECTS:
            raise Unreachable(f"The socket to notebook {self.id} broke {broken + 1} times: {error}") from None
        await async_sleep(backoff(broken))
        return broken + 1

    async def _connect(self) -> AsyncSocket:
        token = await self._transport.token()
        path = ops.get_notebook.path.format(**self._path)
        # The path has to hold the token, so errors about the address must not be shown.
        url = f"ws{self._transport.settings.url[len('http'):]}{path}/kernel/ws/{self._session}/{token}"
        return await async_connect(url, max_size=MESSAGE_BYTES, max_queue=MESSAGES_WAITING, open_timeout=30)

    async def _message(self, socket: AsyncSocket, deadline: Deadline) -> Dict[str, Any]:
        while True:
            deadline.check()
            try:
                message = json.loads(await async_receive(socket, min(deadline.left, 30.0)))
            except TimeoutError:
                continue
            if isinstance(message, dict):
                return message


