from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Iterator, List

import httpx
import pytest
from conftest import Platform, page, refused

from managed_spark import CellFailed, Client, Cluster, ClusterFailed, ConfigurationError, DeadlineExceeded, Run, RunFailed
from managed_spark._cells import Cell, code_cells
from managed_spark._lines import MAX_LINE_BYTES, Lines
from managed_spark._sync.workspaces import name_of


class Stream(httpx.SyncByteStream):
    """A body that ends, or breaks after its pieces."""

    def __init__(self, pieces: List[bytes], error: Any = None) -> None:
        self.pieces = pieces
        self.error = error

    def __iter__(self) -> Iterator[bytes]:
        yield from self.pieces
        if self.error is not None:
            raise self.error


def job(status: str, **more: Any) -> httpx.Response:
    read = {"job_id": 7, "job_status": status, "reason": None, "reason_code": None, "to_date": "infinity"}
    return httpx.Response(200, json={**read, **more})


def log(offset: int, pieces: List[bytes], error: Any = None) -> httpx.Response:
    return httpx.Response(200, headers={"x-log-offset": str(offset)}, stream=Stream(pieces, error))


@pytest.fixture
def run(client: Client) -> Run:
    return Run(client._transport, 3, 7)


def test_follow_resumes_at_the_byte_where_the_connection_broke(run: Run, platform: Platform) -> None:
    platform.answers = [
        log(0, [b"one\ntw", "o é".encode()[:-1]], httpx.ReadError("reset")),
        httpx.ConnectError("refused"),
        log(9, ["é".encode()[1:], b"\nthree\n"], httpx.ReadTimeout("silent")),
        log(17, [b"four"]),
        job("RUNNING"),
        log(21, [b"\nfive"]),
        job("DONE"),
    ]
    assert list(run.follow()) == ["one", "two é", "three", "four", "five"]
    offsets = [request.url.params.get("offset") for request in platform.requests if "log" in request.url.path]
    assert offsets == ["0", "9", "9", "17", "21"]


def test_the_lines_of_a_log_are_all_that_it_has_by_now(run: Run, platform: Platform) -> None:
    platform.answers = [log(0, [b"one\ntw"], httpx.ReadError("reset")), log(6, [b"o\nthree"])]
    assert list(run.lines("stderr")) == ["one", "two", "three"]
    asked = [(request.url.path[-11:], request.url.params["follow"], request.url.params["offset"]) for request in platform.requests]
    assert asked == [("/log/stderr", "false", "0"), ("/log/stderr", "false", "6")]


def test_a_search_of_a_log_goes_on_until_its_end(run: Run, platform: Platform) -> None:
    matches = [{"offset": 40, "line": "error: gives up"}, {"offset": 8, "line": "ERROR"}]
    platform.answers = [
        httpx.Response(200, json={"matches": matches[:1], "next_offset": 30, "size_bytes": 60}),
        httpx.Response(200, json={"matches": [], "next_offset": 20, "size_bytes": 60}),
        httpx.Response(200, json={"matches": matches[1:], "next_offset": None, "size_bytes": 60}),
    ]
    assert list(run.search_log("error", "stderr", backward=True)) == matches
    params = [dict(request.url.params) for request in platform.requests]
    assert [sent.get("offset") for sent in params] == [None, "30", "20"]
    assert all(sent["text"] == "error" and sent["direction"] == "backward" for sent in params)
    assert platform.requests[0].url.path.endswith("/spark/job/7/log/stderr/search")


def test_follow_gives_up_on_a_log_that_always_breaks(run: Run, platform: Platform) -> None:
    platform.handler = lambda request: log(0, [], httpx.ReadError("reset"))
    with pytest.raises(Exception, match="The log of job 7 broke off 11 times"):
        list(run.follow())


def test_follow_has_a_deadline(run: Run, platform: Platform) -> None:
    platform.handler = lambda request: job("RUNNING") if "log" not in request.url.path else log(0, [])
    with pytest.raises(DeadlineExceeded, match="Job 7 took longer than 0 s"):
        list(run.follow(timeout=0))


def test_a_line_without_end_is_given_in_parts() -> None:
    lines = Lines()
    parts = list(lines.feed(b"x" * (2 * MAX_LINE_BYTES + 1))) + list(lines.end())
    assert [len(part) for part in parts] == [MAX_LINE_BYTES, MAX_LINE_BYTES, 1]


def test_a_failed_run_raises_its_reason_and_what_to_do(run: Run, platform: Platform) -> None:
    platform.answers = [job("RUNNING"), job("ERROR", reason="Boom.", reason_code="OUT_OF_MEMORY")]
    with pytest.raises(RunFailed) as raised:
        run.result()
    failure = raised.value
    assert (failure.code, failure.reason, failure.remedy) == ("OUT_OF_MEMORY", "Boom.", "Raise driver_memory, or collect less data on the driver.")
    assert failure.log_url == "https://spark.test/api/v1/workspace/3/spark/job/7/log/stderr"


def test_a_finished_run_is_returned(run: Run, platform: Platform) -> None:
    platform.answers = [job("SUBMITTED"), job("DONE")]
    assert run.result()["to_date"] is None


def test_a_wait_has_a_deadline(run: Run, platform: Platform) -> None:
    platform.handler = lambda request: job("RUNNING")
    with pytest.raises(TimeoutError):
        run.wait(timeout=0)


def test_an_existing_job_is_changed(client: Client, platform: Platform, tmp_path: Any) -> None:
    script = tmp_path / "sum.py"
    script.write_text("print(1)")
    platform.answers = [
        httpx.Response(200, json={"workspace_id": 3, "name": "demo"}),
        httpx.Response(200, json={"full_file_path": "sum.py", "workspace_id": "3"}),
        refused(409, "RECORD.DUPLICATE_NAME"),
        httpx.Response(201, json={}),
        httpx.Response(200, json={"job_conf_id": 4}),
        httpx.Response(200, json={"job_id": "8"}),
    ]
    run = client.workspace("demo").run(script, cluster="c", args=["a b", "c"], driver_memory="512m")
    upload, create, update, _, submit = platform.requests[1:]
    assert (run.id, upload.content, upload.headers["Content-Length"]) == (8, b"print(1)", "8")
    assert b'"cluster_name":"c"' in create.content.replace(b": ", b":") and b"512m" in update.content
    assert update.url.params["job_conf_name"] == "sum"
    assert b"'a b' c" in submit.content


def test_a_running_sql_server_is_used_again(client: Client, platform: Platform, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: List[Any] = []
    monkeypatch.setattr("managed_spark._hive.query", lambda *arguments: asked.append(arguments))
    platform.answers = [
        httpx.Response(200, json={"workspace_id": 3, "name": "demo"}),
        page([{"job_id": 7, "job_status": "RUNNING"}]),
        job("RUNNING"),
    ]
    client.workspace("demo").sql("select 1", cluster="c", max_rows=5)
    [(post, statement, max_rows, deadline)] = asked
    assert (statement, max_rows, 3590 < deadline.left <= 3600) == ("select 1", 5, True)
    platform.answers = [httpx.Response(200, content=b"answer")]
    assert post(b"message", 5.0) == b"answer"
    sent = platform.requests[-1]
    assert (sent.url.path, sent.content) == ("/api/v1/workspace/3/spark/job/7/thrift", b"message")
    assert [sent.headers[name] for name in ("Authorization", "Content-Type")] == ["Bearer t-1", "application/x-thrift"]


def found(**more: Any) -> httpx.Response:
    return httpx.Response(200, json={"workspace_id": 3, "name": "demo", **more})


def test_names_of_files_become_names_of_records() -> None:
    assert name_of(Path("/x/My Job (2).py")) == "my-job-2-"
    assert name_of(Path("serve.py"), "double") == "serve-double"
    assert len(name_of(Path("x" * 100))) == 64
    assert name_of(Path("Überblick für März.py")) == "uberblick-fur-marz"
    # Two such files would otherwise share a job.
    with pytest.raises(ConfigurationError, match="Pass a name"):
        name_of(Path("日本.py"))


def test_a_list_that_answers_404_is_empty(client: Client, platform: Platform) -> None:
    platform.answers = [found(), refused(404, "RECORD.NOT_FOUND")]
    assert list(client.workspace("demo").notebooks.list(status=["RUNNING"])) == []
    assert platform.requests[1].url.params.get_list("notebook_status") == ["RUNNING"]


def test_a_file_becomes_a_notebook_of_its_language(client: Client, platform: Platform, tmp_path: Path) -> None:
    file = tmp_path / "My Cells.ipynb"
    file.write_text('{"cells": [], "metadata": {"kernelspec": {"name": "spylon", "language": "Scala"}}}')
    uploaded = httpx.Response(200, json={"full_file_path": "my-cells.ipynb", "workspace_id": "3"})
    platform.answers = [found(), uploaded, refused(409, "RECORD.DUPLICATE_NAME"), httpx.Response(201, json={})]
    assert client.workspace("demo").define_notebook(str(file), cluster=2, driver_memory="1g") == "my-cells"
    created, updated = (json.loads(request.content) for request in platform.requests[2:])
    assert created == {
        "cluster_id": 2,
        "driver_memory": "1g",
        "notebook_name": "my-cells",
        "notebook_path": "my-cells.ipynb",
        "notebook_type": "scala",
    }
    assert updated == {"cluster_id": 2, "driver_memory": "1g"}


def test_a_notebook_that_is_not_there_is_not_made_by_its_name(client: Client, platform: Platform) -> None:
    platform.answers = [found(), refused(404, "RECORD.NOT_FOUND")]
    with pytest.raises(ConfigurationError, match="has no notebook report"):
        client.workspace("demo").define_notebook("report", cluster="c")


def test_cells_with_code_are_read_from_a_notebook() -> None:
    cells = [
        {"id": "a", "cell_type": "markdown", "source": "# T"},
        {"id": "b", "cell_type": "code", "source": ["x = 1\n", "x"]},
        {"id": "c", "cell_type": "code", "source": " \n"},
    ]
    assert code_cells(json.dumps({"cells": cells}).encode()) == [("b", "x = 1\nx")]
    with pytest.raises(ConfigurationError, match="not a notebook"):
        code_cells(b"[" * 100_000)


def cluster(status: str) -> httpx.Response:
    return httpx.Response(200, json={"cluster_id": 2, "name": "c", "cluster_status": status})


@pytest.mark.parametrize(
    ("wanted", "seen", "requests"),
    [
        ("RUNNING", ["RUNNING"], []),
        ("RUNNING", ["STOPPING", "STOPPED", "INITIATING", "RUNNING"], ["start"]),
        ("STOPPED", ["INITIATING", "RUNNING", "STOPPING", "STOPPED"], ["stop"]),
    ],
)
def test_a_cluster_is_brought_to_a_status(
    client: Client, platform: Platform, wanted: str, seen: List[str], requests: List[str]
) -> None:
    statuses = iter(seen)
    platform.handler = lambda request: cluster(next(statuses)) if request.method == "GET" else httpx.Response(200, json={})
    found = Cluster(client._transport, cluster("STOPPED").json())
    steps = [found.step_to(wanted) for _ in seen]
    assert steps == [False] * (len(seen) - 1) + [True]
    assert [request.url.path.rsplit("/", 1)[1] for request in platform.requests if request.method == "POST"] == requests


def test_a_cluster_that_somebody_else_starts_is_waited_for(client: Client, platform: Platform) -> None:
    platform.answers = [cluster("STOPPED"), refused(409, "CLUSTER.INVALID_STATE"), cluster("RUNNING")]
    found = Cluster(client._transport, cluster("STOPPED").json())
    assert [found.step_to("RUNNING"), found.step_to("RUNNING")] == [False, True]


def test_a_cluster_without_a_way_to_a_status_fails(client: Client, platform: Platform) -> None:
    platform.answers = [cluster("ERROR"), page([{"reason": "No disk."}])]
    with pytest.raises(ClusterFailed, match="No disk"):
        Cluster(client._transport, cluster("ERROR").json()).step_to("RUNNING")


def test_a_wait_tells_the_statuses_that_it_sees(run: Run, platform: Platform) -> None:
    platform.answers = [job("SUBMITTED"), job("RUNNING"), job("DONE")]
    seen: List[str] = []
    run.result(on_status=seen.append)
    assert seen == ["SUBMITTED", "RUNNING"]


def message(kind: str, parent: str = "c", **content: Any) -> Any:
    return {"msg_type": kind, "parent_header": {"msg_id": parent}, "content": content}


def test_a_cell_collects_what_belongs_to_it() -> None:
    cell = Cell("c")
    assert not cell.add(message("stream", text="hello"))
    assert not cell.add(message("stream", parent="other", text="not mine"))
    assert not cell.add(message("execute_result", data={"text/plain": "3"}))
    assert cell.add(message("execute_reply", status="ok"))
    assert (cell.result().text, cell.value) == ("hello", "3")


def test_a_failed_cell_raises() -> None:
    cell = Cell("c")
    assert cell.add(message("execute_reply", status="error", ename="KeyError", evalue="'x'", traceback=["line"]))
    with pytest.raises(CellFailed, match="KeyError: 'x'"):
        cell.result()


def test_a_statement_in_another_encoding_is_refused(client: Client, platform: Platform, tmp_path: Path) -> None:
    script = tmp_path / "prices.sql"
    script.write_bytes("select 'Größe'".encode("latin-1"))
    platform.answers = [httpx.Response(200, json={"workspace_id": 3, "name": "demo"})]
    with pytest.raises(ConfigurationError, match="prices.sql is not encoded in UTF-8"):
        client.workspace("demo").run(script, cluster="c")
