"""Operators that run jobs, notebooks and SQL, and start and stop clusters."""

from __future__ import annotations

import hashlib
import time
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Dict, List, NoReturn, Optional, Sequence, Union

from airflow.providers.common.compat.sdk import AirflowException, AirflowTaskTimeout, BaseOperator, conf
from managed_spark import (
    ApiError,
    CellFailed,
    Client,
    Cluster,
    Conflict,
    ManagedSparkError,
    NotFound,
    Notebook,
    Run,
    RunFailed,
    Workspace,
    notebook_language,
    printable,
)

from .hook import ManagedSparkHook
from .links import LOG_URL, RUN_URL, LogLink, RunLink
from .task_try import TaskTry, lines_of, record_name, unfinished_job, unfinished_notebook
from .triggers import POLL_SECONDS, ClusterTrigger, NotebookTrigger, RunTrigger

if TYPE_CHECKING:
    from airflow.providers.common.compat.sdk import Context

#: Number of last lines of the logs of a failed run that are copied into the task's log.
MAX_LOG_LINES = 30
#: Fraction of its time limit after which a deferred task ends.
LIMIT_FRACTION = 0.95


class ManagedSparkOperator(BaseOperator):
    """Base class of the operators: the connection, and whether the task waits in a worker or deferred."""

    def __init__(
        self,
        *,
        managed_spark_conn_id: str = ManagedSparkHook.default_conn_name,
        deferrable: Optional[bool] = None,
        poll_seconds: float = POLL_SECONDS,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.managed_spark_conn_id = managed_spark_conn_id
        by_default = conf.getboolean("operators", "default_deferrable", fallback=False)
        self.deferrable = by_default if deferrable is None else deferrable
        self.poll_seconds = poll_seconds

    def client(self) -> Client:
        return ManagedSparkHook(self.managed_spark_conn_id).client()

    def wait_deferred(self, context: Context, trigger: type[Any], **subject: Any) -> NoReturn:
        """Frees the worker until the trigger fires. The trigger fires shortly before the task's time limit, so that the run can
        be stopped: at the limit itself, Airflow ends the task without calling the operator.
        """
        limit: Optional[timedelta] = self.execution_timeout
        ends_at = None
        if limit is not None:
            ends_at = context["ti"].start_date.timestamp() + LIMIT_FRACTION * limit.total_seconds()
        made = trigger(conn_id=self.managed_spark_conn_id, ends_at=ends_at, poll_seconds=self.poll_seconds, **subject)
        self.defer(trigger=made, method_name="execute_complete")
        raise AssertionError("A deferred task does not continue.")


class _RunOperator(ManagedSparkOperator):
    """Submits one run for each try, and ends with its outcome."""

    operator_extra_links = (RunLink(), LogLink())

    def __init__(
        self,
        *,
        workspace: Union[str, int],
        args: Optional[Sequence[str]] = None,
        spark_conf: Optional[Dict[str, Any]] = None,
        show_log: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.workspace = workspace
        self.args = args
        self.spark_conf = spark_conf
        self.show_log = show_log
        self._run: Optional[Run] = None

    def job_name(self, task: TaskTry) -> str:
        raise NotImplementedError

    def define(self, workspace: Workspace, name: str) -> None:
        """Defines the job on the platform, unless it exists already."""
        raise NotImplementedError

    def clean_up(self, workspace: Workspace, run: Run) -> None:
        """Removes what `define` has created for this run only."""

    def execute(self, context: Context) -> int:
        task = TaskTry.of(context["ti"])
        with self.client() as client:
            workspace = client.workspace(reference(self.workspace))
            run = self._run = self._begun(workspace, task)
            context["ti"].xcom_push(key=RUN_URL, value=run.url)
            context["ti"].xcom_push(key=LOG_URL, value=f"{run.url}/log/stdout")
            if self.deferrable:
                self.wait_deferred(context, RunTrigger, workspace_id=workspace.id, job_id=run.id)
            if self.show_log:
                for line in run.follow():
                    self.log.info("%s", printable(line))
            return self._ended(workspace, run, is_shown=self.show_log)

    def execute_complete(self, context: Context, event: Dict[str, Any]) -> int:
        """Continues when the trigger has fired."""
        with self.client() as client:
            workspace = client.workspace(event["workspace_id"])
            run = workspace.jobs.get(event["job_id"])
            if event.get("timed_out"):
                kill(run)
                raise AirflowTaskTimeout(f"Job {run.id} was stopped because of the task's execution_timeout.")
            return self._ended(workspace, run, is_shown=False)

    def on_kill(self) -> None:
        if self._run is None:
            return
        self.log.info("Stopping job %s, because the task was stopped.", self._run.id)
        with self.client() as client:
            kill(client.run(self._run.workspace_id, self._run.id))

    def _begun(self, workspace: Workspace, task: TaskTry) -> Run:
        """Returns the run of this try, or of an earlier one that still runs. A try that submits again gets the same run."""
        name = self.job_name(task)
        run = unfinished_job(workspace, name, task)
        if run is not None:
            self.log.info("Job %s of an earlier try is still running; this try waits for it: %s", run.id, run.url)
            return run
        self.define(workspace, name)
        conf = task.conf(properties_of(self.spark_conf))
        run = workspace.jobs.submit(name, args=self.args, conf=conf, idempotency_key=task.key)
        self.log.info("Submitted job %s as %s: %s", run.id, name, run.url)
        return run

    def _ended(self, workspace: Workspace, run: Run, *, is_shown: bool) -> int:
        try:
            run.result()
        except RunFailed as failure:
            self._explain(run, is_shown=is_shown)
            raise AirflowException(str(failure)) from None
        else:
            if self.show_log and not is_shown:
                self._show(run, "stdout")
            return run.id
        finally:
            with suppress(ManagedSparkError):
                self.clean_up(workspace, run)

    def _explain(self, run: Run, *, is_shown: bool) -> None:
        for log in ("stderr",) if is_shown else ("stdout", "stderr"):
            self._show(run, log)

    def _show(self, run: Run, log: str) -> None:
        # A run that never started has no log.
        with suppress(ApiError):
            for line in run.log(log, last=MAX_LOG_LINES).splitlines():
                self.log.info("%s | %s", log, printable(line))


class ManagedSparkJobOperator(_RunOperator):
    """Runs a job of a workspace: one that is defined there, or a local script.

    :param job: name of the job; with a script, by default the names of DAG and task
    :param script: a .py, .jar or .sql file on the worker, which is uploaded
    :param cluster: name or id of the cluster, for a script
    :param args: arguments of this run
    :param spark_conf: Spark properties of this run
    :param settings: other settings of the job, such as `driver_memory`. They are not templates, since they are those of all runs
    :param show_log: copies the output of the run into the task's log; for a deferred task, its last lines
    """

    template_fields: Sequence[str] = ("workspace", "job", "cluster", "args", "spark_conf")

    def __init__(
        self,
        *,
        job: Optional[str] = None,
        script: Optional[str] = None,
        cluster: Union[str, int, None] = None,
        settings: Optional[Dict[str, Any]] = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if script is None and (job is None or cluster is not None or settings is not None):
            raise ValueError("Give either a job that is defined in the workspace, or a script with a cluster.")
        if script is not None and cluster is None:
            raise ValueError(f"The script {script} needs a cluster.")
        self.job = job
        self.script = script
        self.cluster = cluster
        self.settings = settings

    def job_name(self, task: TaskTry) -> str:
        return self.job or record_name(task)

    def define(self, workspace: Workspace, name: str) -> None:
        if self.script is None or self.cluster is None:
            return
        local = Path(self.script)
        content = local.read_bytes()
        # The path depends on the content, so that a changed DAG does not change the script of a waiting run.
        path = f"airflow/{name}/{hashlib.sha256(content).hexdigest()[:16]}{local.suffix}"
        workspace.define_job(local, cluster=reference(self.cluster), name=name, path=path, **(self.settings or {}))


class ManagedSparkSqlOperator(_RunOperator):
    """Runs SQL statements, separated by semicolons, as a job. The task's log shows their results.

    :param sql: the statements, or the path of a .sql file of the DAG
    :param cluster: name or id of the cluster
    :param settings: other settings of the job, such as `driver_memory`
    """

    template_fields: Sequence[str] = ("workspace", "sql", "cluster", "spark_conf")
    template_ext: Sequence[str] = (".sql",)
    template_fields_renderers: ClassVar[Dict[str, str]] = {"sql": "sql"}

    def __init__(
        self, *, sql: str, cluster: Union[str, int], settings: Optional[Dict[str, Any]] = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.sql = sql
        self.cluster = cluster
        self.settings = settings

    def job_name(self, task: TaskTry) -> str:
        # Runs of several dates may begin at the same time, and each must run its own statements.
        return record_name(task, self.sql, self.cluster, self.settings)

    def define(self, workspace: Workspace, name: str) -> None:
        settings = {**(self.settings or {}), "rawScalaCode": self.sql}
        workspace.jobs.define(name, "SQL", reference(self.cluster), **settings)

    def clean_up(self, workspace: Workspace, run: Run) -> None:
        """Deletes the job, whose runs are kept. The platform refuses this while the job has other unfinished runs; the
        last one succeeds.
        """
        name = run.details()["job_conf"]["name"]
        workspace.jobs.delete(name)


class ManagedSparkNotebookOperator(ManagedSparkOperator):
    """Executes the cells of a copy of a notebook in a new kernel. The copy, with its outputs, is kept in the workspace as a file that
    the task's log names.

    :param notebook: name of a notebook of the workspace, or a local .ipynb file
    :param cluster: name or id of the cluster
    :param spark_conf: Spark properties of this run, which cells read with `spark.conf.get`
    :param settings: other settings of the notebook, such as `driver_memory`
    """

    template_fields: Sequence[str] = ("workspace", "notebook", "cluster", "spark_conf")
    operator_extra_links = (RunLink(), LogLink())

    def __init__(
        self,
        *,
        workspace: Union[str, int],
        notebook: str,
        cluster: Union[str, int],
        spark_conf: Optional[Dict[str, Any]] = None,
        settings: Optional[Dict[str, Any]] = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.workspace = workspace
        self.notebook = notebook
        self.cluster = cluster
        self.spark_conf = spark_conf
        self.settings = settings
        self._instance: Optional[Notebook] = None

    def execute(self, context: Context) -> int:
        task = TaskTry.of(context["ti"])
        with self.client() as client:
            workspace = client.workspace(reference(self.workspace))
            instance = self._instance = self._begun(workspace, task)
            context["ti"].xcom_push(key=RUN_URL, value=instance.url)
            context["ti"].xcom_push(key=LOG_URL, value=f"{instance.url}/log/stderr")
            if self.deferrable:
                self.wait_deferred(context, NotebookTrigger, workspace_id=workspace.id, notebook_id=instance.id)
            try:
                instance.wait_until_running()
                for cell in instance.run_cells():
                    for line in lines_of(cell):
                        self.log.info("%s", line)
            except CellFailed as failure:
                self._fail(str(failure), failure.traceback)
            except RunFailed as failure:
                self._fail(str(failure), [])
            finally:
                instance.disconnect()
                self._keep(workspace, instance)
            return instance.id

    def execute_complete(self, context: Context, event: Dict[str, Any]) -> int:
        """Continues when the trigger has executed the cells or has failed."""
        with self.client() as client:
            instance = client.notebook(event["workspace_id"], event["notebook_id"])
            self._keep(client.workspace(event["workspace_id"]), instance)
        if event.get("timed_out"):
            raise AirflowTaskTimeout(f"Notebook {instance.id} was stopped because of the task's execution_timeout.")
        if event["failure"] is not None:
            self._fail(event["failure"], event["traceback"])
        return instance.id

    def on_kill(self) -> None:
        if self._instance is None:
            return
        self.log.info("Stopping notebook %s, because the task was stopped.", self._instance.id)
        with self.client() as client:
            kill(client.notebook(self._instance.workspace_id, self._instance.id))

    def _begun(self, workspace: Workspace, task: TaskTry) -> Notebook:
        name = record_name(task, task.instance)
        instance = unfinished_notebook(workspace, name, task)
        if instance is not None:
            self.log.info("Notebook %s of an earlier try is still running; this try continues it: %s", instance.id, instance.url)
            return instance
        is_local = self.notebook.endswith(".ipynb")
        content = Path(self.notebook).read_bytes() if is_local else workspace.notebooks.export(self.notebook)
        path = workspace.files.write(file_of(name), content)
        settings = {**(self.settings or {}), "conf": task.conf(properties_of(self.spark_conf))}
        language = notebook_language(content)
        workspace.notebooks.define(name, reference(self.cluster), language=language, path=path, **settings)
        instance = workspace.notebooks.start(name, idempotency_key=task.key)
        self.log.info("Started notebook %s from %s: %s", instance.id, path, instance.url)
        return instance

    def _keep(self, workspace: Workspace, instance: Notebook) -> None:
        """Writes the outputs into the file, and removes the notebook that was defined for this run only."""
        kill(instance)
        name = instance.details()["notebook_conf"]["notebook_name"]
        with suppress(ManagedSparkError):
            instance.wait_until_stopped()
            content = workspace.notebooks.export(name)
            workspace.notebooks.delete(name)
            workspace.files.write(file_of(name), content)

    def _fail(self, failure: str, traceback: List[str]) -> NoReturn:
        for line in "\n".join(traceback).splitlines():
            self.log.info("%s", printable(line))
        raise AirflowException(failure)


class _ClusterOperator(ManagedSparkOperator):
    """Moves a cluster to a status, from any other status; does nothing if it is already there."""

    template_fields: Sequence[str] = ("cluster",)
    status: ClassVar[str]

    def __init__(self, *, cluster: Union[str, int], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.cluster = cluster

    def execute(self, context: Context) -> int:
        with self.client() as client:
            cluster: Cluster = client.cluster(reference(self.cluster))
            try:
                is_there = cluster.step_to(self.status)
                self.log.info("Cluster %s is %s.", cluster.name, cluster.details["cluster_status"])
                if not is_there and self.deferrable:
                    self.wait_deferred(context, ClusterTrigger, cluster_id=cluster.id, status=self.status)
                while not is_there:
                    time.sleep(self.poll_seconds)
                    is_there = cluster.step_to(self.status)
            except ManagedSparkError as failure:
                raise AirflowException(str(failure)) from None
            return cluster.id

    def execute_complete(self, context: Context, event: Dict[str, Any]) -> None:
        if event.get("timed_out"):
            raise AirflowTaskTimeout(f"Cluster {self.cluster} was not {self.status} within the task's execution_timeout.")
        if event["failure"] is not None:
            raise AirflowException(event["failure"])


class ManagedSparkStartClusterOperator(_ClusterOperator):
    """Starts a cluster, and waits until it is running."""

    status = "RUNNING"


class ManagedSparkStopClusterOperator(_ClusterOperator):
    """Stops a cluster, and waits until it has stopped."""

    status = "STOPPED"


def reference(value: Union[str, int]) -> Union[str, int]:
    """Returns an id as a number, even from a template, which renders strings."""
    return int(value) if isinstance(value, str) and value.isdigit() else value


def file_of(notebook: str) -> str:
    return f"airflow/{notebook}.ipynb"


def properties_of(spark_conf: Optional[Dict[str, Any]]) -> List[str]:
    return [f"{key}={value}" for key, value in (spark_conf or {}).items()]


def kill(run: Union[Run, Notebook]) -> None:
    """Stops a run that may have ended by itself, or may not exist."""
    with suppress(Conflict, NotFound):
        run.kill()


__all__ = [
    "ManagedSparkJobOperator",
    "ManagedSparkNotebookOperator",
    "ManagedSparkSqlOperator",
    "ManagedSparkStartClusterOperator",
    "ManagedSparkStopClusterOperator",
]
