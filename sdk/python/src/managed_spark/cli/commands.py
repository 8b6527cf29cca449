"""The commands of `msp`."""

from __future__ import annotations

import logging
import os
import socket
import sys
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Optional, Union

import typer

from .. import operations
from .._cells import Cell
from .._sync.client import Client
from .._sync.notebooks import Notebook
from .._sync.runs import DAY, Run
from .._sync.workspaces import Workspace
from .._text import CONTROL_SEQUENCE
from ..errors import CellFailed, ConfigurationError, Conflict, ManagedSparkError, RunFailed, Unauthenticated
from ..settings import DEFAULT_PROFILE, Settings, checked_token, profile_file, write_profile
from ..version import VERSION
from . import completion
from .outcomes import INTERRUPTED, exit_code
from .output import RetryMessages, note, show, show_line, table, write_output
from .progress import Progress
from .spark_ui import show_spark_ui

if TYPE_CHECKING:
    from .._generated import types

app = typer.Typer(
    no_args_is_help=True, pretty_exceptions_enable=False, context_settings={"help_option_names": ["-h", "--help"]}
)
workspaces = typer.Typer(no_args_is_help=True, help="List workspaces.")
clusters = typer.Typer(no_args_is_help=True, help="List, start and stop clusters.")
jobs = typer.Typer(no_args_is_help=True, help="List and stop jobs, and show their costs.")
notebooks = typer.Typer(no_args_is_help=True, help="Run notebooks.")
app.add_typer(workspaces, name="workspace")
app.add_typer(clusters, name="cluster")
app.add_typer(jobs, name="job")
app.add_typer(notebooks, name="notebook")

# Number of last lines of stderr that are shown for a failed run.
TAIL = 20

WORKSPACE = typer.Option(
    ...,
    "--workspace",
    "-w",
    envvar="MSP_WORKSPACE",
    help="Name or id of the workspace; `msp workspace list` has them.",
    autocompletion=completion.workspaces,
)
CLUSTER = typer.Option(
    ...,
    "--cluster",
    "-c",
    envvar="MSP_CLUSTER",
    help="Name or id of the cluster; `msp cluster list` shows them.",
    autocompletion=completion.clusters,
)
NAMED_CLUSTER = typer.Argument(..., help="Name or id of the cluster.", autocompletion=completion.clusters)
AS_JSON = typer.Option(False, "--json", help="Print JSON instead of a table.")
TIMEOUT = typer.Option(DAY, "--timeout", min=1, help="Maximum number of seconds to wait.")

JOB_COLUMNS = ("id", "name", "status", "cluster", "started", "reason")
COST_COLUMNS = ("id", "node_hours", "units", "amount", "currency", "until")
COSTS_COLUMNS = ("id", "name", "node_hours", "units", "amount", "currency", "idle_hours", "idle_amount")
NO_AMOUNT = {
    "NO_PRICE": "The operator of the platform has set no price for this time.",
    "PARTLY_PRICED": "Part of this time is before the first price applies.",
    "SEVERAL_CURRENCIES": "The currency changed within this time.",
}


def _show_version(is_asked: bool) -> None:
    if is_asked:
        print(VERSION)
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(
        False, "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
    ),
) -> None:
    """Run Spark jobs on the managed Spark platform."""


@app.command()
def login(
    url: str = typer.Option(..., prompt="URL of the platform", help="Such as https://spark.example.com"),
    username: str = typer.Option(..., prompt="User name"),
    tenant: Optional[str] = typer.Option(None, help="Name or id of the tenant; needed if you belong to several."),
    profile: str = typer.Option(DEFAULT_PROFILE, help="Profile to write."),
    days: int = typer.Option(30, min=1, max=36_500, help="Days until the token expires."),
    allow_http: bool = typer.Option(False, help="Allow plain HTTP, which does not encrypt the token."),
) -> None:
    """Save a personal token to a profile. The password is read from MSP_PASSWORD, from the prompt, or from standard input if that
    is not a terminal; it is not saved.
    """
    password = os.environ.get("MSP_PASSWORD") or _read_password()
    given = Settings(
        url=url.rstrip("/"), username=username, password=password, tenant=tenant, source="msp login", allow_http=allow_http
    )
    with Client(settings=given) as client:
        body = {"description": f"msp on {socket.gethostname()}", "timeout": f"{days} days"}
        token = checked_token(client.call(operations.create_token, body=body)["token"], given.url)
    values = {"url": given.url, "token": token, **({"allow_http": "true"} if allow_http else {})}
    file = profile_file()
    write_profile(file, profile, values)
    note(f"Saved profile {profile} to {file}. Its token expires in {days} days.")


def _read_password() -> str:
    if sys.stdin.isatty():
        return str(typer.prompt("Password", hide_input=True, err=True))
    password = sys.stdin.readline().rstrip("\r\n")
    if not password:
        raise ConfigurationError(
            "There is no terminal to prompt for the password. Set MSP_PASSWORD, or write the password to standard input."
        )
    return password


@app.command(context_settings={"ignore_unknown_options": True})
def run(
    script: Path = typer.Argument(..., help="Local .py, .jar or .sql file to upload."),
    args: Optional[List[str]] = typer.Argument(None, help="Arguments of the script, after --."),
    workspace: str = WORKSPACE,
    cluster: str = CLUSTER,
    name: Optional[str] = typer.Option(None, help="Name of the job; by default, that of the script."),
    driver_memory: Optional[str] = typer.Option(None, help="Heap of the driver, such as 2g."),
    executor_memory: Optional[str] = typer.Option(None, help="Heap of each executor, such as 4g."),
    class_name: Optional[str] = typer.Option(None, help="Main class of a .jar file."),
    conf: Optional[List[str]] = typer.Option(None, help="A Spark property, key=value; may be repeated."),
    package: Optional[List[str]] = typer.Option(
        None, help="Maven coordinates of a library, group:artifact:version; may be repeated."
    ),
    idempotency_key: Optional[str] = typer.Option(
        None, help="Submit only once for this key, however often the command is repeated."
    ),
    follow: bool = typer.Option(
        False, "--follow", "-f", help="Print the output until the job ends; the exit code shows the outcome."
    ),
    as_json: bool = typer.Option(
        False,
        "--json",
        help="Print JSON instead of a table. With --follow, print a line of JSON for each status of the job; "
        "its output goes to standard error.",
    ),
    timeout: float = TIMEOUT,
) -> None:
    """Upload a script and run it."""
    given: Dict[str, Any] = {
        "driver_memory": driver_memory,
        "executor_memory": executor_memory,
        "class_name": class_name,
        "conf": conf or None,
        "packages": package or None,
    }
    settings = {key: value for key, value in given.items() if value is not None}
    with Client() as client:
        chosen = client.workspace(_ref(workspace))
        # A large script takes minutes to upload.
        with Progress(f"Script {script.name}") as progress:
            progress.set("uploading")
            job = chosen.run(
                script, cluster=_ref(cluster), args=args, name=name, idempotency_key=idempotency_key, **settings
            )
        if not follow:
            _show_jobs(chosen, [job.details()], as_json)
            return
        note(f"Submitted job {job.id}.")
        if as_json:
            _follow_as_json(chosen, job, timeout)
        else:
            _follow(job, "stdout", timeout)
        _end(job, timeout)


@app.command()
def logs(
    job: int = typer.Argument(..., help="Id of the job."),
    workspace: str = WORKSPACE,
    follow: bool = typer.Option(
        False, "--follow", "-f", help="Print new lines until the job ends; the exit code shows the outcome."
    ),
    stderr: bool = typer.Option(False, "--stderr", help="Print stderr, which has the log of Spark, instead of stdout."),
    lines: Optional[int] = typer.Option(
        None,
        "--lines",
        "-n",
        min=1,
        max=1000,
        help="Print only this number of last lines; with --follow, begin with them.",
    ),
    timeout: float = TIMEOUT,
) -> None:
    """Print the log of a job."""
    log = "stderr" if stderr else "stdout"
    with Client() as client:
        found = client.workspace(_ref(workspace)).jobs.get(job)
        if not follow:
            _print_log(found, log, lines)
            return
        _follow(found, log, timeout, last=lines)
        _end(found, timeout)


@app.command()
def spark_ui(
    job: int = typer.Argument(..., help="Id of the job."),
    workspace: str = WORKSPACE,
    spark_home: Optional[Path] = typer.Option(
        None, help="Folder of a Spark on this machine; SPARK_HOME, or else the installed PySpark, by default."
    ),
    browser: bool = typer.Option(True, help="Open the pages in a browser."),
) -> None:
    """Show Spark's own pages of a job (plans of SQL, stages, storage, executors), while it runs or afterwards. A History Server on
    this machine makes them from the event log of the job, until Ctrl-C; it needs Spark and Java.
    """
    with Client() as client:
        show_spark_ui(client.workspace(_ref(workspace)).jobs.get(job), spark_home, browser)


@app.command()
def sql(
    statement: str = typer.Argument(..., help="A statement, or - to read it from standard input."),
    workspace: str = WORKSPACE,
    cluster: str = CLUSTER,
    max_rows: int = typer.Option(1000, min=1, help="Maximum number of rows to print."),
    as_json: bool = AS_JSON,
    timeout: float = TIMEOUT,
) -> None:
    """Run a statement on the workspace's SQL server, which is started if it does not run."""
    text = sys.stdin.read() if statement == "-" else statement
    with Client() as client, Progress("Statement") as progress:
        found = client.workspace(_ref(workspace)).sql(
            text, cluster=_ref(cluster), max_rows=max_rows, timeout=timeout, on_status=progress.set
        )
    if as_json:
        show(found.to_dicts(), found.columns, True)
    elif found.columns:
        table(found.rows, found.columns)
    if found.is_truncated:
        note(f"There are more than {max_rows} rows. Raise --max-rows to see them.")


@app.command("costs")
def list_costs(
    first: str = typer.Option(..., "--from", help="First day (UTC), such as 2026-11-01."),
    last: str = typer.Option(..., "--until", help="Last day (UTC), included."),
    by: str = typer.Option("day", help="What to group by: day, workspace, cluster, user or run."),
    workspace: Optional[str] = typer.Option(None, "--workspace", "-w", help="Only runs of this workspace, by name or id."),
    cluster: Optional[int] = typer.Option(None, "--cluster", "-c", help="Only the cluster with this id."),
    user: Optional[int] = typer.Option(None, help="Only runs that the user with this id submitted."),
    limit: int = typer.Option(100, "--limit", "-n", min=1, max=1000, help="Maximum number of lines to print."),
    as_json: bool = AS_JSON,
) -> None:
    """Show what the runs of a period cost. Administrators also see idle time, by day and by cluster."""
    query: Dict[str, Any] = {"from": first, "until": last, "by": by, "limit": limit}
    if workspace is not None:
        named = _ref(workspace)
        query["workspace_id" if isinstance(named, int) else "workspace_name"] = named
    query.update({"cluster_ids": cluster, "created_by_ids": user})
    with Client() as client:
        report = client.call(operations.list_costs, query=query)
    lines = report["data"]
    show(lines if as_json else [_cost_line(by, line) for line in lines], COSTS_COLUMNS, as_json)
    if report["result_set"]["next"] is not None:
        note(f"There are more than {limit} lines. Raise --limit, or choose a shorter period.")
    if report["total"]["runs"]["amount"] is None:
        note(NO_AMOUNT[report["total"]["runs"]["pricing"]])


def _cost_line(by: str, line: Any) -> Dict[str, Any]:
    subject = line[by] or {}
    idle = line["idle"]
    return {
        "id": None if by == "day" else subject.get("id", subject.get("user_id")),
        "name": subject if by == "day" else subject.get("name", subject.get("username")),
        **_figures(line["runs"]),
        "idle_hours": None if idle is None else _figures(idle)["node_hours"],
        "idle_amount": None if idle is None else _figures(idle)["amount"],
    }


def _figures(cost: Any) -> Dict[str, Optional[str]]:
    return {
        "node_hours": f"{cost['node_ms'] / 3_600_000:.6f}",
        "units": f"{cost['ycu']:.6f}",
        "amount": None if cost["amount"] is None else f"{cost['amount']:.6f}",
        "currency": cost["currency"],
    }


def _memory_text(memory: Any, currency: Optional[str]) -> str:
    unused = memory["unused"]
    price = "" if unused["amount"] is None else f"; the rest cost {unused['amount']:.6f} {currency} or less"
    advice = "" if memory["sufficient_mb"] is None else f" Suggested driver memory: {memory['sufficient_mb']}m."
    return f"It requested {memory['requested_mb']} MiB and used {memory['peak_mb']} MiB at most{price}.{advice}"


@workspaces.command("list")
def list_workspaces(as_json: bool = AS_JSON) -> None:
    """List the workspaces that you may see."""
    with Client() as client:
        found = [{"id": one.id, "name": one.name, "description": one.details["description"]} for one in client.workspaces()]
    show(found, ("id", "name", "description"), as_json)


@clusters.command("list")
def list_clusters(
    status: Optional[str] = typer.Option(None, help="Only those with this status."), as_json: bool = AS_JSON
) -> None:
    """List clusters."""
    with Client() as client:
        found = [
            {
                "id": cluster.id,
                "name": cluster.name,
                "status": cluster.details["cluster_status"],
                "spark": cluster.details["spark_infra_version"]["spark_version"],
                "nodes": cluster.details["instance_size"],
            }
            for cluster in client.clusters.list(status=status)
        ]
    show(found, ("id", "name", "status", "spark", "nodes"), as_json)


@clusters.command("start")
def start_cluster(
    cluster: str = NAMED_CLUSTER,
    wait: bool = typer.Option(False, "--wait", help="Wait until it is running."),
    timeout: float = typer.Option(1800.0, "--timeout", min=1, help="Maximum number of seconds to wait."),
) -> None:
    """Start a cluster."""
    with Client() as client, Progress(f"Cluster {cluster}") as progress:
        client.cluster(_ref(cluster)).start(wait=wait, timeout=timeout, on_status=progress.set)
    note(f"Cluster {cluster} is {'running' if wait else 'starting'}.")


@clusters.command("stop")
def stop_cluster(
    cluster: str = NAMED_CLUSTER,
    wait: bool = typer.Option(False, "--wait", help="Wait until it has stopped."),
    timeout: float = typer.Option(1800.0, "--timeout", min=1, help="Maximum number of seconds to wait."),
) -> None:
    """Stop a cluster."""
    with Client() as client, Progress(f"Cluster {cluster}") as progress:
        client.cluster(_ref(cluster)).stop(wait=wait, timeout=timeout, on_status=progress.set)
    note(f"Cluster {cluster} {'has stopped' if wait else 'is stopping'}.")


@clusters.command("resize")
def resize_cluster(
    cluster: str = NAMED_CLUSTER,
    minimum: Optional[int] = typer.Option(None, "--min", min=1, max=30, help="Minimum number of nodes."),
    maximum: Optional[int] = typer.Option(None, "--max", min=1, max=30, help="Maximum number of nodes."),
    nodes: Optional[int] = typer.Option(None, "--nodes", min=1, max=30, help="Exactly this number of nodes."),
) -> None:
    """Change the number of nodes of a running cluster."""
    if nodes is None and minimum is None and maximum is None:
        raise typer.BadParameter("Name --min, --max or --nodes.")
    if nodes is not None and (minimum is not None or maximum is not None):
        raise typer.BadParameter("--nodes is the minimum and the maximum. Leave out --min and --max.")
    with Client() as client:
        done = client.cluster(_ref(cluster)).resize(minimum=nodes or minimum, maximum=nodes or maximum)
    least, most = done["min_instances"], done["max_instances"]
    note(
        f"Nodes of cluster {cluster}: {least if least == most else f'{least} to {most}'}. "
        f"To add: {done['instances_to_add']}. To remove: {done['instances_to_remove']}."
    )


@jobs.command("list")
def list_jobs(
    workspace: str = WORKSPACE,
    status: Optional[str] = typer.Option(None, help="Only those with this status."),
    limit: int = typer.Option(20, "--limit", "-n", min=1, help="Maximum number of jobs to list."),
    as_json: bool = AS_JSON,
) -> None:
    """List the jobs of a workspace, newest first."""
    with Client() as client:
        chosen = client.workspace(_ref(workspace))
        found = [job for job, _ in zip(chosen.jobs.list(status=status), range(limit))]
        _show_jobs(chosen, found, as_json)


@jobs.command("cost")
def job_cost(
    job: int = typer.Argument(..., help="Id of the job."), workspace: str = WORKSPACE, as_json: bool = AS_JSON
) -> None:
    """Show the cost of a job: its share of the time of its nodes, until now or its end."""
    with Client() as client:
        found = client.workspace(_ref(workspace)).jobs.get(job).cost()
    cost = found["cost"]
    shown = {"id": found["run_id"], **_figures(cost), "until": found["end_date"] or "now"}
    show([found] if as_json else [shown], COST_COLUMNS, as_json)
    if cost["amount"] is None:
        note(NO_AMOUNT[cost["pricing"]])
    memory = found.get("memory")
    if memory and not as_json:
        note(_memory_text(memory, cost["currency"]))


@jobs.command("kill")
def kill_job(
    job: int = typer.Argument(..., help="Id of the job."),
    workspace: str = WORKSPACE,
    wait: bool = typer.Option(False, "--wait", help="Wait until it has stopped."),
    timeout: float = TIMEOUT,
) -> None:
    """Stop a job."""
    with Client() as client, Progress(f"Job {job}") as progress:
        found = client.workspace(_ref(workspace)).jobs.get(job)
        found.kill()
        status = found.wait(timeout, on_status=progress.set)["job_status"] if wait else "stopping"
    note(f"Job {job} is {status}.")


@notebooks.command("run")
def run_notebook(
    notebook: str = typer.Argument(..., help="Name of a notebook, or a local .ipynb file to upload."),
    workspace: str = WORKSPACE,
    cluster: str = CLUSTER,
    driver_memory: Optional[str] = typer.Option(None, help="Heap of the driver, such as 2g."),
    conf: Optional[List[str]] = typer.Option(None, help="A Spark property, key=value; may be repeated."),
    output: Optional[Path] = typer.Option(None, "--output", "-o", help="Write the notebook with its outputs to this file."),
    timeout: float = TIMEOUT,
) -> None:
    """Execute the cells of a notebook in a new kernel and print their output, up to the first exception."""
    settings: Dict[str, Any] = {} if driver_memory is None else {"driver_memory": driver_memory}
    with Client() as client:
        chosen = client.workspace(_ref(workspace))
        name = chosen.define_notebook(notebook, cluster=_ref(cluster), **settings)
        instance = chosen.notebooks.start(name, conf=conf or None)
        note(f"Submitted notebook {instance.id}.")
        try:
            _run_cells(instance, timeout)
        finally:
            instance.disconnect()
            # An instance that never ran has ended by itself.
            with suppress(Conflict):
                instance.kill()
            if output is not None:
                output.write_bytes(chosen.notebooks.export(name))


def _run_cells(instance: Notebook, timeout: float) -> None:
    with Progress(f"Notebook {instance.id}") as progress:
        instance.wait_until_running(timeout, on_status=progress.set)
        total = len(instance.cells())
        progress.set(f"cell 1 of {total}")
        try:
            for number, cell in enumerate(instance.run_cells(timeout=timeout), start=1):
                _show_cell(cell, progress)
                progress.set(f"cell {min(number + 1, total)} of {total}")
        except CellFailed as failure:
            traceback = "\n".join(failure.traceback)
            for line in CONTROL_SEQUENCE.sub("", traceback).splitlines():
                progress.print(line, to=sys.stderr)
            raise


def _show_cell(cell: Cell, progress: Progress) -> None:
    shown = [cell.text, *(str(display.get("text/plain", "")) for display in cell.displays), cell.value or ""]
    for text in filter(None, shown):
        progress.print(text.rstrip("\n"))


def execute() -> None:
    """Runs the command, and exits with the code of its outcome."""
    _show_retries()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # The output of a job may have characters that the encoding of the terminal lacks.
            stream.reconfigure(errors="replace")
    try:
        app(prog_name="msp")
    except ManagedSparkError as error:
        note(f"msp: {error}")
        if isinstance(error, Unauthenticated) and sys.argv[1:2] != ["login"]:
            note("Run `msp login` for a new token, or set MSP_TOKEN to a valid one.")
        sys.exit(exit_code(error))
    except OSError as error:
        note(f"msp: {error}")
        sys.exit(exit_code(error))


def _show_retries() -> None:
    # During completion, the shell would show the messages within the line that is being typed.
    if "_MSP_COMPLETE" not in os.environ:
        logger = logging.getLogger("managed_spark")
        logger.setLevel(logging.INFO)
        logger.handlers = [RetryMessages()]


def _ref(text: str) -> Union[int, str]:
    """A number is an id."""
    return int(text) if text.isascii() and text.isdigit() else text


def _print_log(job: Run, log: str, lines: Optional[int]) -> None:
    if lines is not None:
        write_output(job.log(log, last=lines), end="")
        return
    for line in job.lines(log):
        write_output(line)


@contextmanager
def _interruptible(job: Run) -> Iterator[None]:
    """Ends the command on Ctrl-C, and says how to stop the job."""
    try:
        yield
    except KeyboardInterrupt:
        note(f"Job {job.id} continues. Stop it with `msp job kill {job.id} -w {job.workspace_id}`.")
        sys.exit(INTERRUPTED)


def _follow(job: Run, log: str, timeout: float, last: Optional[int] = None) -> None:
    with _interruptible(job), Progress(f"Job {job.id}") as progress:
        if progress.is_shown:
            progress.set(_start(job, timeout, progress.set))
        for line in job.follow(log, timeout=timeout, last=last):
            progress.print(line)


def _follow_as_json(workspace: Workspace, job: Run, timeout: float) -> None:
    """Prints a line for each status that the job has. Its output goes to standard error, where a program does not read it
    as JSON.
    """
    printed = ""

    def show_status(_status: str = "") -> None:
        nonlocal printed
        details = job.details()
        if details["job_status"] != printed:
            printed = details["job_status"]
            show_line(_job_record(workspace, details))

    with _interruptible(job):
        _start(job, timeout, show_status)
        show_status()
        for line in job.follow(timeout=timeout):
            write_output(line, sys.stderr)
        job.wait(timeout, on_status=show_status)
        show_status()


def _start(job: Run, timeout: float, on_status: Callable[[str], None]) -> str:
    """Reports what a job waits for until it runs, and returns its status then."""
    try:
        return job.wait_until_running(timeout, on_status=on_status)["job_status"]
    except RunFailed as failure:
        # It ended before it ran, or before a poll saw it run. Its output is shown all the same.
        return failure.status


def _end(job: Run, timeout: float) -> None:
    """Raises RunFailed if the job failed, and prints the end of its log first."""
    try:
        job.result(timeout)
    except RunFailed as failure:
        if failure.status == "ERROR":
            for line in job.log("stderr", last=TAIL).splitlines():
                note(line)
        raise


def _show_jobs(workspace: Workspace, found: List["types.JobRead"], as_json: bool) -> None:
    show([_job_record(workspace, job) for job in found], JOB_COLUMNS, as_json)


def _job_record(workspace: Workspace, job: "types.JobRead") -> Dict[str, Any]:
    return {
        "id": job["job_id"],
        "workspace": workspace.id,
        "name": job["job_conf"]["name"],
        "status": job["job_status"],
        "cluster": job["cluster_info"]["name"],
        "started": job["from_date"],
        "reason": job["reason"],
    }
