"""Runs DAGs of the Airflow provider against a platform, as the environment says; prints what it saw as JSON in its last line."""

import json
import os
import sys
from datetime import datetime, timedelta
from pathlib import Path

from airflow.providers.common.compat.sdk import DAG, AirflowException
from managed_spark import Client
from managed_spark_airflow.hook import ManagedSparkHook
from managed_spark_airflow.operators import (
    ManagedSparkJobOperator,
    ManagedSparkNotebookOperator,
    ManagedSparkSqlOperator,
    ManagedSparkStartClusterOperator,
    ManagedSparkStopClusterOperator,
)

WORKSPACE, CLUSTER, OTHER_CLUSTER = (os.environ[f"TEST_{name}"] for name in ("WORKSPACE", "CLUSTER", "OTHER_CLUSTER"))
FOLDER = Path(__file__).resolve().parent
#: A second try makes this file when it has a run. The jobs of the platform see its folder.
SECOND_TRY = Path(os.environ["TEST_SHARED_DIR"]) / "second-try"
COMMON = {"workspace": WORKSPACE, "poll_seconds": 1}
SCRIPT = {**COMMON, "cluster": CLUSTER, "settings": {"driver_memory": "512m"}}


def script(name, text):
    file = FOLDER / name
    file.write_text(text)
    return str(file)


def dag(name):
    return DAG(name, schedule=None, start_date=datetime(2026, 1, 1))


def states(run):
    return {task.task_id: [str(task.state), task.try_number] for task in run.get_task_instances()}


class LosesItsWorker(ManagedSparkJobOperator):
    """Submits a run in its first try, and then its worker ends without a word to the platform."""

    def _begun(self, workspace, task):
        run = super()._begun(workspace, task)
        if task.try_number == 1:
            raise AirflowException("The worker is gone.")
        SECOND_TRY.touch()
        return run


# These are operators of each kind, one after the other. Airflow imports this file, and finds the DAGs in it.
cells = [{"cell_type": "code", "source": source} for source in ("print(spark.conf.get('spark.airflow.day'))", "6 * 7")]
(FOLDER / "cells.ipynb").write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}))
words = script("words.py", "import sys\nprint('Words:', *sys.argv[1:])\n")
day = "{{ dag_run.run_id[:6] }}"
with dag("work") as WORK:
    (
        ManagedSparkStartClusterOperator(task_id="start", cluster=OTHER_CLUSTER, deferrable=True, poll_seconds=1)
        >> ManagedSparkJobOperator(task_id="job", script=words, args=[day, "two words"], **SCRIPT)
        >> ManagedSparkJobOperator(task_id="again", job="work.job", args=["later"], deferrable=True, **COMMON)
        >> ManagedSparkSqlOperator(task_id="sql", sql=f"select '{day}' as d, 6 * 7 as n", deferrable=True, **SCRIPT)
        >> ManagedSparkNotebookOperator(
            task_id="cells",
            notebook=str(FOLDER / "cells.ipynb"),
            spark_conf={"spark.airflow.day": day},
            deferrable=True,
            **SCRIPT,
        )
        >> ManagedSparkStopClusterOperator(task_id="stop", cluster=OTHER_CLUSTER, poll_seconds=1)
    )

# The worker of a try is lost, a run fails at first, and two are too slow.
slow = script(
    "slow.py",
    """
import pathlib, sys, time
print('begun', flush=True)
# On a busy machine, tasks in between take longer than any fixed time.
deadline = time.monotonic() + 300
while not pathlib.Path(sys.argv[1]).exists():
    assert time.monotonic() < deadline, 'no second try'
    time.sleep(0.5)
""",
)
flaky = script("flaky.py", "import sys\nprint('Attempt', sys.argv[1])\nassert sys.argv[1] == '2', 'not yet'\n")
endless = script("endless.py", "import time\ntime.sleep(600)\n")
again = {"retries": 1, "retry_delay": timedelta(seconds=0)}
with dag("retries") as RETRIES:
    LosesItsWorker(task_id="lost", script=slow, args=[str(SECOND_TRY)], **again, **SCRIPT)
    ManagedSparkJobOperator(task_id="flaky", script=flaky, args=["{{ ti.try_number }}"], **again, **SCRIPT)
    ManagedSparkJobOperator(task_id="late", script=endless, execution_timeout=timedelta(seconds=40), **SCRIPT)
    ManagedSparkJobOperator(
        task_id="late_deferred", script=endless, execution_timeout=timedelta(seconds=40), deferrable=True, **SCRIPT
    )


def work():
    run = WORK.test()
    with Client() as client:
        workspace = client.workspace(WORKSPACE)
        jobs = [[job["job_conf"]["name"][:8], job["job_status"]] for job in workspace.jobs.list()]
        notebooks = [one["notebook_status"] for one in workspace.notebooks.list()]
    url = run.get_task_instance("job").xcom_pull(task_ids="job", key="managed_spark_run_url")
    return {"states": states(run), "jobs": jobs, "notebooks": notebooks, "url": url}


def retries():
    run = RETRIES.test()
    with Client() as client:
        workspace = client.workspace(WORKSPACE)
        runs = {}
        for task in ("lost", "flaky", "late", "late_deferred"):
            found = [workspace.jobs.get(job["job_id"]) for job in workspace.jobs.list(name=f"retries.{task}")]
            runs[task] = [one.wait(60)["job_status"] for one in found]
    return {"states": states(run), "runs": runs, "connection": ManagedSparkHook().test_connection()}


if __name__ == "__main__":
    print(json.dumps(work() if sys.argv[1] == "work" else retries()))
