from __future__ import annotations

import json
import os
import signal
import stat
import sys
import threading
from contextlib import closing
from pathlib import Path
from typing import Any, Callable, Dict, List
from urllib.parse import urlsplit

import httpx
import pytest
from conftest import Platform
from test_cli import WORKSPACE, msp  # noqa: F401

from managed_spark import _history_server as history
from managed_spark._history_server import EventLogFile, check_version, event_of, find_java, find_spark
from managed_spark.cli import spark_ui
from managed_spark.errors import ManagedSparkError, UsageError

START = {"Event": "SparkListenerLogStart", "Spark Version": "3.5.9"}
APPLICATION = {"Event": "SparkListenerApplicationStart", "App Name": "sum", "App ID": "local-17", "Timestamp": 1, "User": "x"}
SQL = {"Event": "org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart", "executionId": 0}
STREAM = {"Event": "org.apache.spark.sql.streaming.StreamingQueryListener$QueryStartedEvent", "id": "a"}

# What a test needs of a History Server: it answers once it has the log, and writes down what it was started with.
SERVER = """#!{python}
import http.server, json, os, pathlib, sys
properties = dict(line.split("=", 1) for line in pathlib.Path(sys.argv[-1]).read_text().splitlines())
events = pathlib.Path(properties["spark.history.fs.logDirectory"].removeprefix("file:"))
seen = {{"argv": sys.argv[1:], "env": dict(os.environ), "properties": properties, "events": str(events), "pid": os.getpid()}}
seen["log"] = "".join(path.read_text() for path in events.iterdir())
seen["names"] = [path.name for path in events.iterdir()]
pathlib.Path({seen!r}).write_text(json.dumps(seen))
if {fails!r}:
    print("java.lang.IllegalStateException: no")
    sys.exit(1)
class Pages(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == "/api/v1/applications/local-17" else 404)
        self.end_headers()
http.server.HTTPServer(("127.0.0.1", int(properties["spark.history.ui.port"])), Pages).serve_forever()
"""


def lines(*events: Any) -> str:
    return "".join(f"{event if isinstance(event, str) else json.dumps(event)}\n" for event in events)


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Installs a Spark and a Java that only look like them; returns the file in which Java writes what it has seen."""

    def installed(version: str = "3.5.9", fails: bool = False) -> Path:
        (tmp_path / "spark" / "jars").mkdir(parents=True)
        (tmp_path / "spark" / "jars" / f"spark-core_2.12-{version}.jar").touch()
        java = tmp_path / "java" / "bin" / "java"
        java.parent.mkdir(parents=True)
        seen = tmp_path / "seen.json"
        java.write_text(SERVER.format(python=sys.executable, seen=str(seen), fails=fails))
        java.chmod(java.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("SPARK_HOME", str(tmp_path / "spark"))
        monkeypatch.setenv("JAVA_HOME", str(tmp_path / "java"))
        return seen

    return installed


@pytest.fixture
def job(platform: Platform) -> Dict[str, str]:
    """A job of the platform: its status, and its event log."""
    job = {"status": "DONE", "log": lines(START, APPLICATION, SQL)}

    def answer(request: httpx.Request) -> httpx.Response:
        path = request.url.path
        if path.endswith("/log/events"):
            return httpx.Response(200, text=job["log"], headers={"x-log-offset": "0"})
        return httpx.Response(200, json={"job_status": job["status"]} if "/job/17" in path else WORKSPACE)

    platform.handler = answer
    return job


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> List[str]:
    """The addresses that a browser was opened with. Each is followed by Ctrl-C."""
    urls: List[str] = []

    def open_browser(url: str) -> None:
        urls.append(url)
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()

    monkeypatch.setattr(spark_ui.webbrowser, "open", open_browser)
    return urls


UI = ("spark-ui", "17", "-w", "3")


def test_the_server_gets_the_log_and_nothing_else(
    msp: Any, job: Any, install: Any, opened: List[str], capsys: Any, monkeypatch: pytest.MonkeyPatch  # noqa: F811
) -> None:
    seen = install()
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    assert msp(*UI) == 0
    found = json.loads(seen.read_text())
    assert [json.loads(line) for line in found["log"].splitlines()] == [START, APPLICATION, SQL]
    assert found["names"] == ["job-17"]
    assert not {"MSP_TOKEN", "MSP_URL", "AWS_SECRET_ACCESS_KEY"} & set(found["env"])
    assert found["env"]["SPARK_LOCAL_IP"] == "127.0.0.1"
    assert found["properties"]["spark.ui.killEnabled"] == "false"
    address = urlsplit(opened[0])
    assert address.hostname and address.hostname.startswith("spark-") and address.hostname.endswith(".localhost")
    assert (str(address.port), address.path) == (found["properties"]["spark.history.ui.port"], "/history/local-17/jobs/")
    assert capsys.readouterr() == (f"{opened[0]}\n", "Press Ctrl-C to end.\n")
    # Nothing is left: neither the server nor the log.
    with pytest.raises(ProcessLookupError):
        os.kill(found["pid"], 0)
    assert not Path(found["events"]).exists()


def test_the_log_of_a_job_that_runs_is_followed(msp: Any, job: Any, install: Any, opened: List[str], capsys: Any) -> None:  # noqa: F811
    seen = install()
    job["status"] = "RUNNING"
    assert msp(*UI) == 0
    assert json.loads(seen.read_text())["names"] == ["job-17.inprogress"]
    assert capsys.readouterr().err == "The pages follow the job when they are loaded again. Press Ctrl-C to end.\n"


@pytest.mark.parametrize("number", spark_ui.ENDING)
def test_a_signal_leaves_nothing(number: int, msp: Any, job: Any, install: Any, opened: List[str], monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    seen = install()
    monkeypatch.setattr(spark_ui.webbrowser, "open", lambda _: os.kill(os.getpid(), number))
    assert msp(*UI) == 128 + number
    found = json.loads(seen.read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(found["pid"], 0)
    assert not Path(found["events"]).exists()


def test_a_job_without_an_event_log_says_so(msp: Any, job: Any, install: Any, capsys: Any) -> None:  # noqa: F811
    install()
    job["log"] = ""
    assert msp(*UI) == 1
    assert "Job 17 has no event log" in capsys.readouterr().err


def test_a_server_that_ends_says_why(msp: Any, job: Any, install: Any, capsys: Any) -> None:  # noqa: F811
    install(fails=True)
    assert msp(*UI) == 1
    assert "History Server ended with code 1: java.lang.IllegalStateException: no" in capsys.readouterr().err


def test_an_older_spark_is_refused(msp: Any, job: Any, install: Any, opened: List[str], capsys: Any) -> None:  # noqa: F811
    seen = install("3.4.4")
    assert msp(*UI) == 2
    error = capsys.readouterr().err
    assert "the older Spark 3.4.4" in error and "pip install 'pyspark>=3.5'" in error
    assert not seen.exists()


def test_a_newer_spark_reads_the_log() -> None:
    for version in ("3.5.1", "3.5.9", "4.0.1", "10.0.0"):
        check_version(history.Spark(Path(), version), "3.5.9")
    check_version(history.Spark(Path(), "3.5.9"), None)


def test_what_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    with pytest.raises(UsageError, match="has none. Install PySpark"):
        find_spark(None)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(UsageError, match="Install Java 17"):
        find_java()


@pytest.mark.parametrize("event", [START, APPLICATION, SQL, STREAM])
def test_events_of_spark_are_taken(event: Any) -> None:
    assert event_of(json.dumps(event)) == event


@pytest.mark.parametrize(
    "line",
    [
        '{"Event":"org.apache.hive.jdbc.HiveConnection","uri":"jdbc:hive2://evil.example:1/"}',
        '{"Event":"org.apache.spark.deploy.SparkSubmit"}',
        '{"Event":"com.evil.SparkListenerEvil"}',
        '{"Event":"org.apache.spark.evil.Klass$SparkListenerEvil"}',
        '{"Event":"SparkListenerLogStart\\n"}',
        '{"Event":"SparkListenerLogStart","Event":"org.evil.Klass"}',
        '{"Event":"org.evil.Klass","Event":"SparkListenerLogStart"}',
        '{"Event":["SparkListenerLogStart"]}',
        '["SparkListenerLogStart"]',
        '{"Event":"SparkListenerLogStart","Timestamp":NaN}',
        '{"Event":"SparkListenerLogStart","Timestamp":1e999}',
        '{"Event":"SparkListenerLogStart","Timestamp":' + "[" * 100_000,
        "[The output is cut here: it is longer than 9 bytes. Its end follows.]",
    ],
)
def test_classes_that_a_job_names_reach_no_java(line: str, tmp_path: Path) -> None:
    log = EventLogFile(tmp_path, "log")
    for text in (json.dumps(START), line, json.dumps(APPLICATION)):
        log.add(text)
    log.end()
    assert (tmp_path / "log").read_text().splitlines() == [json.dumps(one, separators=(",", ":")) for one in (START, APPLICATION)]
    assert log.skipped == 1


def test_a_log_has_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "MAX_LOG_BYTES", 1_000)
    with closing(EventLogFile(tmp_path, "log")) as log, pytest.raises(ManagedSparkError, match="longer than"):
        for _ in range(100):
            log.add(json.dumps(START))
    assert (tmp_path / "log.inprogress").stat().st_size <= 1_000


@pytest.mark.parametrize("found", ["../../etc", "a b", "", "x" * 201, "local-1?x=<script>"])
def test_an_application_id_is_no_path(found: str, tmp_path: Path) -> None:
    with closing(EventLogFile(tmp_path, "log")) as log, pytest.raises(ManagedSparkError, match="no valid id"):
        log.add(json.dumps({**APPLICATION, "App ID": found}))
