"""Which run belongs to which try of a task, and what its log shows. Nothing here needs Airflow."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import astuple, dataclass
from typing import Any, List, Optional, Sequence
from urllib.parse import quote

from managed_spark import Cell, Notebook, Run, Workspace, printable

#: Spark properties that name the task in each run, so that a later try, and readers of Spark's UI, can find it.
INSTANCE = "spark.airflow.task_instance"
TRY = "spark.airflow.try_number"

LIVE = frozenset({"SUBMITTED", "RUNNING"})
ENDING = frozenset({"STOPPING", "KILLING"})

#: How long a new try waits for the run of the previous one, which is being stopped.
END_SECONDS = 600.0

MAX_NAME_LENGTH = 64
HASH_LENGTH = 10


@dataclass(frozen=True)
class TaskTry:
    """A try of a task instance."""

    dag_id: str
    task_id: str
    run_id: str
    map_index: int
    try_number: int

    @classmethod
    def of(cls, ti: Any) -> TaskTry:
        return cls(ti.dag_id, ti.task_id, ti.run_id, ti.map_index, ti.try_number)

    @property
    def instance(self) -> str:
        """Names the task instance; all its tries have the same."""
        parts = (self.dag_id, self.task_id, self.run_id, str(self.map_index))
        return "/".join(quote(part, safe=":+@") for part in parts)

    @property
    def key(self) -> str:
        """The Idempotency-Key of this try, so that it has one run however often it submits. Each try has its own key."""
        return f"airflow-{_hash(astuple(self))}"

    def conf(self, more: Optional[Sequence[str]] = None) -> List[str]:
        return [*(more or ()), f"{INSTANCE}={self.instance}", f"{TRY}={self.try_number}"]

    def owns(self, conf: Optional[Sequence[str]]) -> bool:
        """Returns True for the properties of a run that any try of this task instance has submitted."""
        return f"{INSTANCE}={self.instance}" in (conf or ())


def unfinished_job(workspace: Workspace, name: str, task: TaskTry) -> Optional[Run]:
    """Returns the run of an earlier try if it still runs, since the worker of that try may have died without stopping it.

    Waits for a run that is being stopped, so that a task instance never has two runs at the same time.
    """
    for job in workspace.jobs.list(name=name, status=sorted(LIVE | ENDING)) if task.try_number > 1 else ():
        if task.owns(job["conf"]):
            run = workspace.jobs.get(job["job_id"])
            if job["job_status"] in LIVE:
                return run
            run.wait(END_SECONDS)
    return None


def unfinished_notebook(workspace: Workspace, name: str, task: TaskTry) -> Optional[Notebook]:
    """Returns the instance of an earlier try if it still runs; the notebook belongs to this task instance only."""
    for notebook in workspace.notebooks.list(status=sorted(LIVE)) if task.try_number > 1 else ():
        if notebook["notebook_conf"]["notebook_name"] == name:
            return workspace.notebooks.get(notebook["notebook_id"])
    return None


def lines_of(cell: Cell) -> List[str]:
    """Returns the lines of a cell's output, each for its own record of the task's log: line breaks and control characters could
    imitate other records of Airflow.
    """
    return [printable(line) for text in (cell.text, cell.value or "") for line in text.splitlines()]


def record_name(task: TaskTry, *content: Any) -> str:
    """Returns the name of the job of a task. With content, each content has a name of its own."""
    suffix = f"-{_hash(content)[:HASH_LENGTH]}" if content else ""
    name = re.sub(r"[^a-z0-9.@_-]+", "-", f"{task.dag_id}.{task.task_id}".lower())
    if len(name) + len(suffix) > MAX_NAME_LENGTH:
        # Two long names must not become the same one.
        suffix = f"-{_hash([task.dag_id, task.task_id])[:HASH_LENGTH]}{suffix}"
    return name[: MAX_NAME_LENGTH - len(suffix)] + suffix


def _hash(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()
