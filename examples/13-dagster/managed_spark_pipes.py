"""A client of Dagster Pipes: runs a script on the managed Spark platform, and passes on what it reports."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dagster_pipes
from dagster import (
    AssetExecutionContext,
    DagsterExecutionInterruptedError,
    OpExecutionContext,
    PipesClient,
    PipesClientCompletedInvocation,
    PipesEnvContextInjector,
    PipesMessageHandler,
    PipesMessageReader,
    open_pipes_session,
)
from managed_spark import Client, Conflict, Run

#: The module that the script reports with. Each run is given it as a file, so that the cluster needs no installation.
MODULE = Path(dagster_pipes.__file__)
MODULE_PATH = f"dagster/{hashlib.sha256(MODULE.read_bytes()).hexdigest()[:16]}/dagster_pipes.py"


class LogMessageReader(PipesMessageReader):
    """Reads the messages of a run from its standard output, where they are mixed with the lines that it prints."""

    @contextmanager
    def read_messages(self, handler: PipesMessageHandler) -> Iterator[dict[str, Any]]:
        self._handler = handler
        yield {dagster_pipes.PipesDefaultMessageWriter.STDIO_KEY: dagster_pipes.PipesDefaultMessageWriter.STDOUT}

    def follow(self, run: Run) -> None:
        for line in run.follow():
            message = message_of(line)
            if message is None:
                print(line)
            else:
                self._handler.handle_message(message)

    def no_messages_debug_text(self) -> str:
        return "The script must create its Spark session, and then open Pipes with PipesCliArgsParamsLoader."


def message_of(line: str) -> Any:
    """Returns the message in a line; None for a line that the script printed."""
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) and dagster_pipes.PIPES_PROTOCOL_VERSION_FIELD in found else None


class ManagedSparkPipesClient(PipesClient):
    """Runs scripts in a workspace. Address and credentials come from where `managed_spark.Client` finds them."""

    def __init__(self, workspace: str, cluster: str) -> None:
        self.workspace = workspace
        self.cluster = cluster

    def run(
        self,
        *,
        context: OpExecutionContext | AssetExecutionContext,
        script: str | Path,
        args: Sequence[str] = (),
        extras: dict[str, Any] | None = None,
        **settings: Any,
    ) -> PipesClientCompletedInvocation:
        """Runs the script to its end. Raises a RunFailed, with the reason, if it fails."""
        reader = LogMessageReader()
        with (
            Client() as client,
            open_pipes_session(
                context=context, context_injector=PipesEnvContextInjector(), message_reader=reader, extras=extras
            ) as session,
        ):
            workspace = client.workspace(self.workspace)
            workspace.files.upload(MODULE, MODULE_PATH)
            files = [*settings.pop("files", ()), MODULE_PATH]
            given = [text for pair in session.get_bootstrap_cli_arguments().items() for text in pair]
            run = workspace.run(
                script,
                cluster=self.cluster,
                args=[*args, *given],
                idempotency_key=key_of(context),
                files=files,
                **settings,
            )
            context.log.info(f"Run {run.id}: {run.url}")
            try:
                reader.follow(run)
                run.result()
            except DagsterExecutionInterruptedError:
                try:
                    run.kill()
                except Conflict:
                    # It has already ended by itself.
                    pass
                raise
        return PipesClientCompletedInvocation(session, metadata={"run": run.url})


def key_of(context: OpExecutionContext | AssetExecutionContext) -> str:
    """Returns the key of a step, which gets the same run if it is started again; a retry of the step gets a new one."""
    op = context.op_execution_context if isinstance(context, AssetExecutionContext) else context
    parts = [op.run_id, op.get_step_execution_context().step.key, str(op.retry_number)]
    return f"dagster-{hashlib.sha256('/'.join(parts).encode()).hexdigest()}"
