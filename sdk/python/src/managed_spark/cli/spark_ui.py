"""The command that shows Spark's own UI of a job."""

from __future__ import annotations

import signal
import tempfile
import threading
import webbrowser
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Iterator, Optional

from .._history_server import EventLogFile, HistoryServer, check_version, find_java, find_spark
from .._sync.runs import FINISHED, Run
from ..errors import ManagedSparkError
from .output import note
from .progress import Progress

#: Interval at which this program checks the server and the job.
CHECK_SECONDS = 0.5
#: Signals that end this program. Windows has no SIGHUP, which the end of a terminal sends.
ENDING = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


class _EventLogReader:
    """Reads the event log of a job in a thread: all of it, and what is added until the job has ended."""

    def __init__(self, job: Run, log: EventLogFile, is_over: bool) -> None:
        self.error: Optional[Exception] = None
        self._lines = job.lines("events") if is_over else job.follow("events")
        self._log = log
        # A thread that waits for the platform must not keep the program.
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    @property
    def is_reading(self) -> bool:
        return self._thread.is_alive()

    def wait(self, seconds: float) -> None:
        self._thread.join(seconds)

    def _read(self) -> None:
        try:
            for line in self._lines:
                self._log.add(line)
            self._log.end()
        except Exception as error:
            self.error = error


def show_spark_ui(job: Run, spark_home: Optional[Path], opens_browser: bool) -> None:
    """Serves Spark's UI of a job on this machine until Ctrl-C."""
    spark, java = find_spark(spark_home), find_java()
    is_over = job.status() in FINISHED
    with _ended_by_signals(), tempfile.TemporaryDirectory(prefix="msp-spark-ui-") as made:
        folder = Path(made)
        (folder / "events").mkdir()
        with closing(EventLogFile(folder / "events", f"job-{job.id}")) as log, suppress(KeyboardInterrupt):
            reader = _EventLogReader(job, log, is_over)
            with Progress(f"Job {job.id}") as progress:
                progress.set("reading the event log")
                application_id = _application_of(reader, log, job, is_over)
                check_version(spark, log.spark_version)
                progress.set("starting Spark's History Server")
                with closing(HistoryServer(spark, java, folder)) as server:
                    server.await_application(application_id)
                    progress.set("serving Spark's UI")
                    url = server.url(application_id)
                    progress.print(url)
                    _say(log, is_over)
                    if opens_browser:
                        webbrowser.open(url)
                    _serve(server, reader)


def _application_of(reader: _EventLogReader, log: EventLogFile, job: Run, is_over: bool) -> str:
    """Waits for the beginning of the log or, of a job that has ended, for all of it."""
    while reader.is_reading and (is_over or log.application_id is None):
        reader.wait(CHECK_SECONDS)
    if reader.error:
        raise reader.error
    if log.application_id is None:
        raise ManagedSparkError(
            f"Job {job.id} has no event log: it has started no Spark application, or its logs were removed after the time for "
            "which the platform keeps them."
        )
    return log.application_id


def _say(log: EventLogFile, is_over: bool) -> None:
    if log.skipped:
        note(f"{log.skipped} lines of the event log are not shown, because they are no events of Spark.")
    note("Press Ctrl-C to end." if is_over else "The pages follow the job when they are loaded again. Press Ctrl-C to end.")


def _serve(server: HistoryServer, reader: _EventLogReader) -> None:
    is_followed = True
    pause = threading.Event()
    while True:
        server.check()
        if is_followed and reader.error:
            is_followed = False
            note(f"The event log is not followed any more, and the pages show what was read: {reader.error}")
        pause.wait(CHECK_SECONDS)


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Lets the server and its files be removed when this program is terminated."""

    def end(number: int, _: Any) -> None:
        raise SystemExit(128 + number)

    before = {number: signal.signal(number, end) for number in ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
