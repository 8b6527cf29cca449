"""Files and secrets of a workspace."""

from __future__ import annotations

import os
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, AsyncIterator, Dict, Union

import httpx

from .._generated import operations as ops
from ..errors import Unreachable
from .transport import AsyncTransport, Content, unpacked

if TYPE_CHECKING:
    from .._generated import types

CHUNK_BYTES = 1 << 20
UPLOAD_SECONDS = 600.0


class AsyncFiles:
    def __init__(self, transport: AsyncTransport, workspace_id: int) -> None:
        self._transport = transport
        self._workspace = {"workspace_id": workspace_id}

    async def upload(self, source: Union[str, "os.PathLike[str]"], path: str = "", *, overwrite: bool = True) -> str:
        """Uploads a local file to the path, which is its own name by default; returns the path in the workspace."""
        local = Path(source)

        async def pieces() -> AsyncIterator[bytes]:
            with open(local, "rb") as stream:
                while True:
                    piece = stream.read(CHUNK_BYTES)
                    if not piece:
                        break
                    yield piece

        return await self._send(path or local.name, pieces, local.stat().st_size, overwrite)

    async def write(self, path: str, data: Union[bytes, str], *, overwrite: bool = True) -> str:
        content = data.encode() if isinstance(data, str) else data

        async def pieces() -> AsyncIterator[bytes]:
            yield content

        return await self._send(path, pieces, len(content), overwrite)

    async def download(self, path: str, target: Union[str, "os.PathLike[str]"]) -> None:
        """Downloads a file of the workspace. The local file appears once it is complete."""
        # The name cannot be guessed, so no link or file of another user is in its place, and two downloads never share a file.
        draft = Path(f"{os.fspath(target)}.{uuid.uuid4().hex}.part")
        response = await self._transport.send(
            ops.download_workspace_file, query={**self._workspace, "file_path": path}, stream=True
        )
        try:
            with open(draft, "xb") as stream:
                async for piece in unpacked(response):
                    stream.write(piece)
            os.replace(draft, target)
        except httpx.RequestError as error:
            raise Unreachable(f"The download of {path} was interrupted: {error}") from error
        finally:
            await response.aclose()
            draft.unlink(missing_ok=True)

    async def read(self, path: str) -> bytes:
        response = await self._transport.send(
            ops.download_workspace_file, query={**self._workspace, "file_path": path}, is_bounded=False
        )
        return response.content

    async def list(self, path: str = "", *, recursive: bool = False) -> AsyncIterator[types.WorkspaceFileRead]:
        query = {**self._workspace, "file_path": path or None, "recursive": recursive}
        async for file in self._transport.pages(ops.list_workspace_files, query=query):
            yield file

    async def delete(self, path: str) -> None:
        await self._transport.call(ops.delete_workspace_file, query={**self._workspace, "file_path": path})

    async def _send(self, path: str, pieces: Content, size: int, overwrite: bool) -> str:
        written = await self._transport.call(
            ops.upload_workspace_file,
            query={**self._workspace, "path": path, "overwrite": overwrite},
            content=pieces,
            headers={"Content-Type": "application/octet-stream", "Content-Length": str(size)},
            timeout=UPLOAD_SECONDS,
        )
        return written["full_file_path"]


class AsyncSecrets:
    """The secrets of a workspace. Their values cannot be read back."""

    def __init__(self, transport: AsyncTransport, workspace_id: int) -> None:
        self._transport = transport
        self._workspace: Dict[str, int] = {"workspace_id": workspace_id}

    async def list(self) -> AsyncIterator[types.WorkspaceSecretRead]:
        async for secret in self._transport.pages(ops.list_workspace_secrets, query=self._workspace):
            yield secret

    async def put(self, name: str, value: str) -> None:
        """Creates or updates a secret with one value, which clusters can pass to their jobs as an environment variable."""
        change: types.UpdateSecret = {"secret_type": "ENVIRONMENT VARIABLE", "value": value}
        async for secret in self.list():
            if secret["name"] == name:
                chosen = {**self._workspace, "workspace_secret_id": secret["workspace_secret_id"]}
                await self._transport.call(ops.update_workspace_secret, query=chosen, body=change)
                return
        body: types.CreateSecret = {"name": name, "secret_type": "ENVIRONMENT VARIABLE", "value": value}
        await self._transport.call(ops.create_workspace_secret, query=self._workspace, body=body)

    async def delete(self, name: str) -> None:
        async for secret in self.list():
            if secret["name"] == name:
                chosen = {**self._workspace, "workspace_secret_id": secret["workspace_secret_id"]}
                await self._transport.call(ops.delete_workspace_secret, query=chosen)
