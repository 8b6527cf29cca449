from __future__ import annotations

import io
import json
import os
import sys
import time
from typing import Any, List

import httpx
import pytest
from conftest import Platform, page, refused

from managed_spark._sync import client as module
from managed_spark.cli import completion, main
from managed_spark.cli.outcomes import exit_code
from managed_spark.cli.progress import Progress
from managed_spark.errors import DeadlineExceeded, RunFailed
from managed_spark.version import VERSION


@pytest.fixture
def msp(platform: Platform, pauses: List[float], monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs the command line; returns its exit code."""
    for name in [name for name in os.environ if name.startswith("MSP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("MSP_URL", "https://spark.test")
    monkeypatch.setenv("MSP_TOKEN", "t-1")
    transport = module.Transport
    monkeypatch.setattr(module, "Transport", lambda settings, http: transport(settings, platform))

    def execute(*arguments: str) -> int:
        monkeypatch.setattr(sys, "argv", ["msp", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        return int(ended.value.code or 0)

    return execute


CLUSTER = {
    "cluster_id": 2,
    "name": "de\x1b[2Jmo",
    "cluster_status": "RUNNING",
    "instance_size": 1,
    "spark_infra_version": {"spark_version": "3.5.9"},
}


def test_a_table_cannot_command_the_terminal(msp: Any, platform: Platform, capsys: Any) -> None:
    platform.answers = [page([CLUSTER])]
    assert msp("cluster", "list") == 0
    assert capsys.readouterr().out == "ID  NAME      STATUS   SPARK  NODES\n2   de [2Jmo  RUNNING  3.5.9  1\n"


def test_json_is_for_programs(msp: Any, platform: Platform, capsys: Any) -> None:
    platform.answers = [page([CLUSTER])]
    assert msp("cluster", "list", "--json") == 0
    assert json.loads(capsys.readouterr().out)[0]["id"] == 2


COST = {"node_ms": 450_000, "ycu": 0.68, "pricing": "PRICED", "amount": 0.000034, "currency": "USD"}
WORKSPACE = {"workspace_id": 3, "name": "demo"}
RUN_COST = {"run_id": 7, "cost": COST, "end_date": None, "memory": None, "intervals": [], "is_truncated": False}
MEMORY = {
    "requested_mb": 1792,
    "peak_mb": 700,
    "unused_mb": 1092,
    "sufficient_mb": 704,
    "unused": {"measured_ms": 450_000, "gib_hours": 0.5, "ycu": 0.36, "amount": 0.018},
}


def test_a_cluster_is_resized(msp: Any, platform: Platform, capsys: Any) -> None:
    done = {"min_instances": 4, "max_instances": 4, "instances_to_add": 3, "instances_to_remove": 0}
    platform.answers = [httpx.Response(200, json=CLUSTER), httpx.Response(200, json=done)]
    assert msp("cluster", "resize", "demo", "--nodes", "4") == 0
    assert json.loads(platform.requests[-1].content) == {"cluster_id": 2, "min_instances": 4, "max_instances": 4}
    assert "Nodes of cluster demo: 4. To add: 3. To remove: 0." in capsys.readouterr().err
    assert msp("cluster", "resize", "demo") == 2
    assert msp("cluster", "resize", "demo", "--nodes", "4", "--max", "5") == 2


def test_a_cost_is_shown_with_all_its_decimals(msp: Any, platform: Platform, capsys: Any) -> None:
    platform.answers = [httpx.Response(200, json=WORKSPACE), httpx.Response(200, json=RUN_COST)]
    assert msp("job", "cost", "7", "-w", "3") == 0
    assert capsys.readouterr() == (
        "ID  NODE_HOURS  UNITS     AMOUNT    CURRENCY  UNTIL\n7   0.125000    0.680000  0.000034  USD       now\n",
        "",
    )


def test_a_cost_without_a_price_says_so(msp: Any, platform: Platform, capsys: Any) -> None:
    unpriced = {**COST, "pricing": "NO_PRICE", "amount": None, "currency": None}
    platform.answers = [httpx.Response(200, json=answer) for answer in (WORKSPACE, {**RUN_COST, "cost": unpriced}) * 2]
    assert msp("job", "cost", "7", "-w", "3") == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[1].split() == ["7", "0.125000", "0.680000", "-", "-", "now"]
    assert err == "The operator of the platform has set no price for this time.\n"
    assert msp("job", "cost", "7", "-w", "3", "--json") == 0
    assert json.loads(capsys.readouterr().out)[0]["cost"] == unpriced


def test_a_cost_names_the_memory_that_was_not_used(msp: Any, platform: Platform, capsys: Any) -> None:
    used_all = {**MEMORY, "sufficient_mb": None, "unused": {**MEMORY["unused"], "amount": None}}
    answers = [{**RUN_COST, "memory": memory} for memory in (MEMORY, used_all, MEMORY)]
    platform.answers = [httpx.Response(200, json=body) for answer in answers for body in (WORKSPACE, answer)]
    assert msp("job", "cost", "7", "-w", "3") == 0
    assert capsys.readouterr().err == (
        "It requested 1792 MiB and used 700 MiB at most; the rest cost 0.018000 USD or less."
        " Suggested driver memory: 704m.\n"
    )
    assert msp("job", "cost", "7", "-w", "3") == 0
    assert capsys.readouterr().err == "It requested 1792 MiB and used 700 MiB at most.\n"
    assert msp("job", "cost", "7", "-w", "3", "--json") == 0
    out, err = capsys.readouterr()
    assert (json.loads(out)[0]["memory"], err) == (MEMORY, "")


def test_costs_of_a_period_have_what_was_idle(msp: Any, platform: Platform, capsys: Any) -> None:
    day = {"day": "2026-11-01", "run": None, "user": None, "runs": COST, "idle": COST, "nodes": COST}
    total = {"runs": COST, "idle": COST, "nodes": COST}
    report = {"data": [day], "total": total, "as_of": "2026-11-02T00:00:00Z", "result_set": {"limit": 1, "next": "more"}}
    platform.answers = [httpx.Response(200, json=report)]
    assert msp("costs", "--from", "2026-11-01", "--until", "2026-11-30", "-w", "demo", "-c", "2", "-n", "1") == 0
    assert dict(platform.requests[-1].url.params) == {
        "from": "2026-11-01",
        "until": "2026-11-30",
        "by": "day",
        "limit": "1",
        "workspace_name": "demo",
        "cluster_ids": "2",
    }
    out, err = capsys.readouterr()
    row = ["-", "2026-11-01", "0.125000", "0.680000", "0.000034", "USD", "0.125000", "0.000034"]
    assert out.splitlines()[1].split() == row
    assert err == "There are more than 1 lines. Raise --limit, or choose a shorter period.\n"


def test_costs_by_user_are_without_idle_time(msp: Any, platform: Platform, capsys: Any) -> None:
    lines = [{"user": {"user_id": 5, "username": "ana"}, "runs": COST, "idle": None}, {"user": None, "runs": COST, "idle": None}]
    report = {"data": lines, "total": {"runs": COST}, "result_set": {"limit": 100, "next": None}}
    platform.answers = [httpx.Response(200, json=report)]
    assert msp("costs", "--from", "2026-11-01", "--until", "2026-11-30", "--by", "user") == 0
    out, err = capsys.readouterr()
    assert [line.split()[:3] for line in out.splitlines()[1:]] == [["5", "ana", "0.125000"], ["-", "-", "0.125000"]]
    assert err == ""


def test_refusals_and_missing_logins_have_their_codes(msp: Any, platform: Platform, capsys: Any) -> None:
    for answer, code in [(refused(403, "AUTH.PERMISSION"), 4), (refused(401, "AUTH.ENDED"), 5)]:
        platform.answers = [answer]
        assert msp("cluster", "list") == code
    assert capsys.readouterr().err.splitlines()[0] == "msp: AUTH.PERMISSION: No."


def test_an_ended_token_has_a_remedy(msp: Any, platform: Platform, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    platform.answers = [refused(401, "AUTH.ENDED")]
    assert msp("cluster", "list") == 5
    assert capsys.readouterr().err.splitlines()[1].startswith("Run `msp login`")
    # A wrong password is not helped by another login.
    monkeypatch.setenv("MSP_PASSWORD", "wrong")
    platform.answers = [refused(401, "AUTH.UNAUTHENTICATED")]
    assert msp("login", "--url", "https://spark.test", "--username", "ada") == 5
    assert capsys.readouterr().err == "msp: AUTH.UNAUTHENTICATED: No.\n"


def test_a_platform_that_does_not_answer_is_told_of_at_once(msp: Any, platform: Platform, capsys: Any) -> None:
    platform.answers = [httpx.ConnectError("refused"), httpx.ConnectError("refused"), page([CLUSTER])]
    assert msp("cluster", "list") == 0
    (told,) = capsys.readouterr().err.splitlines()
    assert told.startswith("msp: Retrying listClusters in ") and "No answer from https://spark.test to listClusters: refused." in told


def test_a_login_without_a_terminal_reads_the_password(msp: Any, platform: Platform, monkeypatch: pytest.MonkeyPatch, tmp_path: Any, capsys: Any) -> None:
    monkeypatch.setenv("MSP_CONFIG_FILE", str(tmp_path / "profiles.ini"))
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    assert msp("login", "--url", "https://spark.test", "--username", "ada") == 5
    assert capsys.readouterr().err.startswith("msp: There is no terminal to prompt for the password. Set MSP_PASSWORD")
    monkeypatch.setattr(sys, "stdin", io.StringIO("s3cret\n"))
    platform.answers = [httpx.Response(200, json={"token": "t-9"}), httpx.Response(200, json={"token": "personal", "token_id": "4"})]
    assert msp("login", "--url", "https://spark.test/api/v1", "--username", "ada") == 0
    assert json.loads(platform.requests[0].content) == {"username": "ada", "password": "s3cret"}
    assert "url = https://spark.test\ntoken = personal\n" in (tmp_path / "profiles.ini").read_text()


def test_workspaces_are_listed(msp: Any, platform: Platform, capsys: Any) -> None:
    platform.answers = [page([{**WORKSPACE, "description": None}])]
    assert msp("workspace", "list") == 0
    assert capsys.readouterr().out == "ID  NAME  DESCRIPTION\n3   demo  -\n"


def test_a_log_is_printed_whole(msp: Any, platform: Platform, capsys: Any) -> None:
    text = "x" * 999 + "\n"
    content = httpx.Response(200, headers={"x-log-offset": "0"}, content=text.encode() * 20_000)
    platform.answers = [httpx.Response(200, json=WORKSPACE), content]
    assert msp("logs", "7", "-w", "demo") == 0
    assert capsys.readouterr().out == text * 20_000
    # The platform sends a log whole unless it is asked for a part.
    assert "file_size_bytes" not in platform.requests[-1].url.params


def test_letters_that_the_terminal_lacks_do_not_end_a_command(msp: Any, platform: Platform, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(terminal, encoding="ascii"))
    platform.answers = [page([{**CLUSTER, "name": "größe"}])]
    assert msp("cluster", "list") == 0
    sys.stdout.flush()
    assert b"gr??e" in terminal.getvalue()


def test_the_version_and_the_help_are_shown(msp: Any, capsys: Any) -> None:
    assert msp("--version") == 0
    assert capsys.readouterr().out == f"{VERSION}\n"
    assert msp("run", "-h") == 0


def test_a_digit_of_another_script_is_a_name(msp: Any, platform: Platform) -> None:
    platform.answers = [refused(404, "WORKSPACE.NOT_FOUND")]
    assert msp("logs", "7", "-w", "²") == 4


def test_usage_errors_are_2(msp: Any, capsys: Any) -> None:
    assert msp("run") == 2
    assert msp("logs", "seven", "-w", "demo") == 2


JOB = {
    "job_id": 7,
    "job_conf": {"name": "sum"},
    "cluster_info": {"name": "demo"},
    "from_date": "2026-11-01T00:00:00Z",
    "reason": None,
    "reason_code": None,
}


def test_a_followed_run_ends_with_the_code_of_its_outcome(msp: Any, platform: Platform, capsys: Any) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        path = request.url.path
        if "/log/" in path:
            return httpx.Response(200, headers={"x-log-offset": "0"}, content=f"{path.rsplit('/', 1)[1]} line\n".encode())
        if path.endswith("/workspace"):
            return httpx.Response(200, json={"workspace_id": 3, "name": "demo"})
        return httpx.Response(200, json={"job_id": 7, "job_status": "ERROR", "reason": "Boom.", "reason_code": None})

    platform.handler = answer
    assert msp("logs", "7", "-f", "-w", "demo") == 1
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("stdout line\n", "stderr line\nmsp: Job 7 is ERROR: Boom.\n")


def test_a_followed_log_begins_with_its_last_lines(msp: Any, platform: Platform, capsys: Any) -> None:
    sent: List[Any] = []

    def answer(request: httpx.Request) -> httpx.Response:
        if "/log/" in request.url.path:
            sent.append(dict(request.url.params))
            if len(sent) == 1:
                return httpx.Response(200, headers={"x-log-offset": "90"}, content=b"third\n")
            return httpx.Response(200, headers={"x-log-offset": "96"}, content=b"fourth\n")
        if request.url.path.endswith("/workspace"):
            return httpx.Response(200, json=WORKSPACE)
        return httpx.Response(200, json={**JOB, "job_status": "RUNNING" if len(sent) == 1 else "DONE"})

    platform.handler = answer
    assert msp("logs", "7", "-f", "-n", "1", "-w", "demo") == 0
    assert sent == [{"follow": "true", "last_n_lines": "1"}, {"follow": "true", "offset": "96"}]
    assert capsys.readouterr().out == "third\nfourth\n"


@pytest.mark.parametrize(("end", "code"), [("DONE", 0), ("ERROR", 1), ("STOPPED", 3)])
def test_a_followed_run_prints_a_line_of_json_for_each_status(
    msp: Any, platform: Platform, tmp_path: Any, capsys: Any, end: str, code: int
) -> None:
    statuses = ["SUBMITTED", "SUBMITTED", "SUBMITTED", "RUNNING", "RUNNING", "RUNNING", "RUNNING"]
    has_log: List[bool] = []

    def answer(request: httpx.Request) -> httpx.Response:
        path = request.url.path
        if "/log/" in path:
            has_log.append(True)
            return httpx.Response(200, headers={"x-log-offset": "0"}, content=b'{"line": "of the job"}\n')
        if request.method == "GET" and path.endswith("/workspace"):
            return httpx.Response(200, json=WORKSPACE)
        if request.method != "GET":
            return httpx.Response(200, json={"job_id": 7, "job_conf_id": "8", "full_file_path": "sum.py"})
        if path.endswith("/conf"):
            return httpx.Response(200, json={"job_conf_id": 8, "name": "sum"})
        status = end if has_log or not statuses else statuses.pop(0)
        return httpx.Response(200, json={**JOB, "job_status": status, "reason": "Why." if has_log else None})

    platform.handler = answer
    (tmp_path / "sum.py").write_text("print(1)")
    assert msp("run", str(tmp_path / "sum.py"), "-w", "demo", "-c", "2", "--json", "--follow") == code
    out, err = capsys.readouterr()
    records = [json.loads(line) for line in out.splitlines()]
    assert [record["status"] for record in records] == ["SUBMITTED", "RUNNING", end]
    assert records[-1] == {
        "id": 7,
        "workspace": 3,
        "name": "sum",
        "status": end,
        "cluster": "demo",
        "started": "2026-11-01T00:00:00Z",
        "reason": "Why.",
    }
    assert '{"line": "of the job"}' in err.splitlines()


def test_outcomes() -> None:
    assert exit_code(RunFailed(1, "KILLED", None, None, "")) == 3
    assert exit_code(RunFailed(1, "TERMINATED", None, None, "")) == 1
    assert exit_code(DeadlineExceeded("late")) == 124


def test_what_is_wrong_here_is_not_a_missing_login(msp: Any, platform: Platform, tmp_path: Any) -> None:
    platform.handler = lambda request: httpx.Response(200, json=WORKSPACE)
    (tmp_path / "notes.txt").touch()
    for file in ("notes.txt", "missing.py"):
        assert msp("run", str(tmp_path / file), "-w", "demo", "-c", "1") == 2
    (tmp_path / "broken.ipynb").write_text("{")
    platform.handler = lambda request: httpx.Response(200, json={**WORKSPACE, "full_file_path": "broken.ipynb"})
    assert msp("notebook", "run", str(tmp_path / "broken.ipynb"), "-w", "demo", "-c", "1") == 2


def test_names_are_completed(msp: Any, platform: Platform, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setenv("_MSP_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "msp cluster start d")
    monkeypatch.setenv("COMP_CWORD", "3")
    platform.answers = [page([{**CLUSTER, "name": "demo"}, {**CLUSTER, "name": "other"}])]
    assert msp() == 0
    assert capsys.readouterr().out.split() == ["demo"]


def test_what_cannot_be_asked_is_not_completed(msp: Any, platform: Platform, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    platform.answers = [refused(401, "AUTH.ENDED")]
    assert completion.clusters("d") == []
    monkeypatch.setenv("MSP_URL", "nowhere")
    assert completion.workspaces("d") == []


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_for_terminals(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    with Progress("Job 7") as progress:
        progress.set("RUNNING")
        progress.print("line")
    assert capsys.readouterr() == ("line\n", "")


def test_progress_makes_way_for_output(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("managed_spark.cli.progress.TICK_SECONDS", 0.01)
    with Progress("Job 7") as progress:
        progress.set("RUN\x1bNING")
        while "NING" not in terminal.getvalue():
            time.sleep(0.01)
        progress.print("line")
    drawn = terminal.getvalue()
    assert "\rJob 7: RUN NING, 0 s\x1b[K" in drawn and drawn.endswith("\r\x1b[K")
    assert capsys.readouterr().out == "line\n"
