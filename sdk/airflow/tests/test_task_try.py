from __future__ import annotations

from dataclasses import replace
from typing import Optional

import pytest
from conftest import Platform

from managed_spark import Cell, Client, Run
from managed_spark_airflow import get_provider_info
from managed_spark_airflow.task_try import TaskTry, lines_of, record_name, unfinished_job

FIRST = TaskTry("nightly", "sum", "scheduled__2026-11-28T00:00:00+00:00", -1, 1)
SECOND = replace(FIRST, try_number=2)


def begun(client: Client, task: TaskTry, name: str = "nightly.sum") -> Run:
    """What an operator does at the beginning of a try."""
    workspace = client.workspace("demo")
    found: Optional[Run] = unfinished_job(workspace, name, task)
    return found or workspace.jobs.submit(name, conf=task.conf(), idempotency_key=task.key)


def test_a_try_that_is_repeated_has_one_run(client: Client, platform: Platform) -> None:
    platform.lost = 1
    assert [begun(client, FIRST).id, begun(client, FIRST).id, len(platform.runs)] == [1, 1, 1]


def test_a_new_try_after_a_failed_run_has_a_run_of_its_own(client: Client, platform: Platform) -> None:
    begun(client, FIRST)
    platform.runs[0]["job_status"] = "ERROR"
    assert begun(client, SECOND).id == 2


def test_a_new_try_continues_a_run_that_goes_on(client: Client, platform: Platform) -> None:
    begun(client, FIRST)
    assert [begun(client, SECOND).id, begun(client, replace(FIRST, try_number=3)).id] == [1, 1]


def test_a_new_try_waits_for_a_run_that_is_being_stopped(client: Client, platform: Platform) -> None:
    begun(client, FIRST)
    platform.runs[0]["job_status"] = "KILLING"
    assert begun(client, SECOND).id == 2
    assert platform.runs[0]["job_status"] == "STOPPED"


@pytest.mark.parametrize(
    "other",
    [
        replace(SECOND, dag_id="nightly/sum", task_id="x"),
        replace(SECOND, task_id="other"),
        replace(SECOND, run_id="scheduled__2026-11-29T00:00:00+00:00"),
        replace(SECOND, map_index=0),
    ],
)
def test_other_task_instances_have_runs_of_their_own(client: Client, platform: Platform, other: TaskTry) -> None:
    begun(client, FIRST)
    assert begun(client, other).id == 2
    assert other.key != SECOND.key and other.instance != SECOND.instance


def test_slashes_in_names_do_not_make_two_instances_one() -> None:
    assert TaskTry("a/b", "c", "r", -1, 1).instance != TaskTry("a", "b/c", "r", -1, 1).instance


def test_names_of_jobs_fit_the_platform_and_stay_apart() -> None:
    assert record_name(FIRST) == "nightly.sum"
    long = [record_name(replace(FIRST, dag_id="d" * 80, task_id=task), "select 1") for task in ("a", "b")]
    assert [len(name) for name in long] == [64, 64] and long[0] != long[1]
    assert record_name(FIRST, "select 1") != record_name(FIRST, "select 2")
    assert record_name(replace(FIRST, dag_id="My Dag!")) == "my-dag-.sum"


def test_a_cell_writes_no_records_of_others() -> None:
    cell = Cell("c")
    cell.text = "one\n[2026-11-28] INFO - Marking task as SUCCESS\x1b[2J\rtwo\n"
    cell.data = {"text/plain": "3\x1b]0;title\x07"}
    assert lines_of(cell) == ["one", "[2026-11-28] INFO - Marking task as SUCCESS", "two", "3 ]0;title "]


def test_what_airflow_asks_for_names_what_is_there() -> None:
    described = get_provider_info()
    assert described["connection-types"][0]["connection-type"] == "managed_spark"
