"""Workspaces: files, jobs, notebooks, functions and SQL."""

from __future__ import annotations

import os
import re
import shlex
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, Any, AsyncIterator, Dict, Optional, Sequence, Union

from .. import _hive
from .._cells import language_of
from .._generated import operations as ops
from .._operation import Operation
from .._ports import async_blocking, async_bridge
from .._table import Table
from .._text import printable
from .._waiting import Deadline, OnStatus
from ..errors import Conflict, UsageError
from .files import AsyncFiles, AsyncSecrets
from .notebooks import AsyncNotebook, AsyncNotebooks
from .runs import AsyncFunction, AsyncRun
from .transport import NAME_TAKEN, AsyncTransport, Ref, chosen

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._generated import types

JOB_TYPES = {".py": "Python3", ".jar": "Jar", ".sql": "SQL"}
MAX_ROWS = 1_000_000

#: The generated operations do not include it, because its body is not JSON.
THRIFT_SQL: Operation[None] = Operation(
    "thriftSql", "POST", "/api/v1/workspace/{workspace_id}/spark/job/{job_id}/thrift", None
)

MAX_NAME_LENGTH = 64


def name_of(file: Path, suffix: str = "") -> str:
    """Returns the name of a file without its extension, in the characters that names of records may have. Letters lose their
    accents.

    :raises UsageError: for a name in another script, which leaves none of its letters
    """
    text = unicodedata.normalize("NFKD", "-".join(filter(None, [file.stem, suffix])).lower())
    plain = "".join(letter for letter in text if not unicodedata.combining(letter))
    name = re.sub(r"[^a-z0-9.@_-]+", "-", plain)[:MAX_NAME_LENGTH]
    if not re.search("[a-z0-9]", name):
        raise UsageError(f"{file} has no letter from a to z and no digit that a name could be made of. Pass a name.")
    return name


def _text_of(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"{file} is not encoded in UTF-8: {error}. Save it as UTF-8.") from None


class AsyncJobs:
    """The runs of a workspace."""

    def __init__(self, transport: AsyncTransport, workspace_id: int) -> None:
        self._transport = transport
        self._path = {"workspace_id": workspace_id}

    async def list(
        self, *, name: Optional[str] = None, status: Union[str, Sequence[str], None] = None
    ) -> AsyncIterator[types.JobRead]:
        """Yields runs, newest first, optionally only those of one job, or with one of the given statuses."""
        query = {"job_conf_name": name, "job_status": status}
        async for job in self._transport.pages(ops.list_jobs, self._path, query=query):
            yield job

    def get(self, job_id: int) -> AsyncRun:
        return AsyncRun(self._transport, self._path["workspace_id"], job_id)

    async def define(
        self, name: str, job_type: str, cluster: Ref, **settings: Unpack[types.JobSettings]
    ) -> types.JobConfRead:
        """Creates the job, or updates the one of this name; settings that are not given keep their values."""
        body: Dict[str, Any] = {**chosen("cluster", cluster), **settings}
        by_name = {"job_conf_name": name}
        try:
            await self._transport.call(ops.create_job_conf, self._path, body={**body, "name": name, "job_type": job_type})
        except Conflict as conflict:
            if conflict.code != NAME_TAKEN:
                raise
            await self._transport.call(ops.update_job_conf, self._path, query=by_name, body=body)
        return await self._transport.call(ops.get_job_conf, self._path, query=by_name)

    async def delete(self, name: str) -> None:
        """Deletes a job that has no unfinished runs; its finished runs can still be read."""
        await self._transport.call(ops.delete_job_conf, self._path, query={"job_conf_name": name})

    async def submit(
        self,
        name: str,
        *,
        args: Optional[Sequence[str]] = None,
        conf: Optional[Sequence[str]] = None,
        idempotency_key: Optional[str] = None,
    ) -> AsyncRun:
        """Submits a run of a defined job. The same key returns the same run, even from another process.

        `args` and `conf`, Spark properties as `key=value`, apply to this run only.
        """
        body: Dict[str, Any] = {"job_conf_name": name}
        if args is not None:
            body["arguments"] = shlex.join(args)
        if conf is not None:
            body["conf"] = list(conf)
        created = await self._transport.call(ops.create_job, self._path, body=body, idempotency_key=idempotency_key)
        return self.get(created["job_id"])


class AsyncWorkspace:
    def __init__(self, transport: AsyncTransport, details: types.WorkspaceRead) -> None:
        self._transport = transport
        self.id = details["workspace_id"]
        self.name = details["name"]
        self.details = details
        self.files = AsyncFiles(transport, self.id)
        self.secrets = AsyncSecrets(transport, self.id)
        self.jobs = AsyncJobs(transport, self.id)
        self.notebooks = AsyncNotebooks(transport, self.id)

    def __repr__(self) -> str:
        return f"<Workspace {self.id} {printable(self.name)}>"

    async def run(
        self,
        script: Union[str, "os.PathLike[str]"],
        *,
        cluster: Ref,
        args: Optional[Sequence[str]] = None,
        name: Optional[str] = None,
        idempotency_key: Optional[str] = None,
        **settings: Unpack[types.JobSettings],
    ) -> AsyncRun:
        """Uploads a local script (.py, .jar or .sql), defines a job that runs it, and submits a run. The job is named
        after the script by default.
        """
        job = await self.define_job(script, cluster=cluster, name=name, **settings)
        return await self.jobs.submit(job, args=args, idempotency_key=idempotency_key)

    async def define_job(
        self,
        script: Union[str, "os.PathLike[str]"],
        *,
        cluster: Ref,
        name: Optional[str] = None,
        path: str = "",
        **settings: Unpack[types.JobSettings],
    ) -> str:
        """Uploads a local script, by default under its own name, and defines a job that runs it; returns the job's name."""
        local = Path(script)
        job_type = JOB_TYPES.get(local.suffix)
        if job_type is None:
            raise UsageError(f"{local} is not a script: its name must end with {', '.join(JOB_TYPES)}.")
        if not local.is_file():
            raise FileNotFoundError(f"There is no file {local}. Name an existing local script.")
        job = name or name_of(local)
        if job_type == "SQL":
            settings["rawScalaCode"] = _text_of(local)
        else:
            settings["command"] = await self.files.upload(local, path)
        await self.jobs.define(job, job_type, cluster, **settings)
        return job

    async def function(
        self,
        script: Union[str, "os.PathLike[str]"],
        function: str,
        *,
        cluster: Ref,
        name: Optional[str] = None,
        timeout: float = 1800.0,
        **settings: Unpack[types.JobSettings],
    ) -> AsyncFunction:
        """Serves a function of a local Python script, and returns once it accepts calls."""
        local = Path(script)
        job = name or name_of(local, function)
        # The whole folder of the script is copied to the run, so the script gets a folder of its own.
        settings["platform_functions_script_path"] = await self.files.upload(local, f"{job}/{local.name}")
        settings["platform_functions_function_name"] = function
        await self.jobs.define(job, "PLATFORM_FUNCTIONS", cluster, **settings)
        run = await self.jobs.submit(job)
        await run.wait_until_running(timeout)
        return AsyncFunction(self._transport, run)

    async def define_notebook(
        self, notebook: str, *, cluster: Ref, **settings: Unpack[types.NotebookSettings]
    ) -> str:
        """Uploads a local .ipynb file as a notebook with that name, or updates the settings of an existing notebook; returns the
        name.
        """
        if not notebook.endswith(".ipynb"):
            if not await self.notebooks.exists(notebook):
                raise UsageError(
                    f"Workspace {self.name} has no notebook {notebook}. Name a local .ipynb file to upload it."
                )
            await self.notebooks.define(notebook, cluster, **settings)
            return notebook
        local = Path(notebook)
        name = name_of(local)
        path = await self.files.upload(local, f"{name}.ipynb")
        language = language_of(local.read_bytes())
        await self.notebooks.define(name, cluster, language=language, path=path, **settings)
        return name

    async def notebook(
        self,
        name: str,
        *,
        cluster: Ref,
        language: str = "python3",
        timeout: float = 1800.0,
        **settings: Unpack[types.NotebookSettings],
    ) -> AsyncNotebook:
        """Opens the notebook with this name in a new kernel. It is created if it does not exist."""
        await self.notebooks.define(name, cluster, language=language, **settings)
        notebook = await self.notebooks.start(name)
        await notebook.wait_until_running(timeout)
        return notebook

    async def sql(
        self,
        statement: str,
        *,
        cluster: Ref,
        max_rows: int = MAX_ROWS,
        timeout: float = 3600.0,
        on_status: Optional[OnStatus] = None,
        **settings: Unpack[types.JobSettings],
    ) -> Table:
        """Runs a statement on the workspace's SQL server on this cluster, which is started if it does not run.

        The server keeps running for later statements, until its idle timeout, which the operator sets. The timeout covers the
        start of the server too; a statement that exceeds it is cancelled.
        """
        deadline = Deadline(timeout, "The statement")
        run = await self._sql_server(cluster, settings)
        await run.wait_until_running(deadline.left, on_status=on_status)
        path = {"workspace_id": self.id, "job_id": run.id}

        async def post(message: bytes, seconds: float) -> bytes:
            async def pieces() -> AsyncIterator[bytes]:
                yield message

            headers = {"Content-Type": "application/x-thrift", "Content-Length": str(len(message))}
            # A statement may have taken effect although its answer was lost, so messages are never retried.
            response = await self._transport.send(
                THRIFT_SQL, path, content=pieces, headers=headers, repeatable=False, timeout=seconds
            )
            return response.content

        call = async_bridge(post)
        return await async_blocking(lambda: _hive.query(call, statement, max_rows, deadline))

    async def _sql_server(self, cluster: Ref, settings: types.JobSettings) -> AsyncRun:
        name = f"sql-{cluster}"
        async for job in self.jobs.list(name=name, status=("RUNNING", "SUBMITTED")):
            return self.jobs.get(job["job_id"])
        await self.jobs.define(name, "THRIFT_SQL", cluster, **settings)
        return await self.jobs.submit(name)
