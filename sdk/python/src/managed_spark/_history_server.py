"""Spark's History Server on this machine, which shows the event log of one job."""

from __future__ import annotations

import importlib.util
import json
import math
import os
import re
import secrets
import shutil
import socket
import subprocess
import time
from pathlib import Path
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Tuple

import httpx

from ._text import on_one_line
from .errors import ManagedSparkError, UsageError

#: Maximum size of an event log. The platform cuts event logs at 100 MiB by default.
MAX_LOG_BYTES = 1 << 30
#: Heap of the History Server, unless SPARK_DAEMON_MEMORY names another. It is Spark's own default.
MEMORY = "1g"
#: Maximum time until the server shows the application. It reads the whole log meanwhile.
START_SECONDS = 120.0
STOP_SECONDS = 5.0
#: Interval at which the server looks for new events of a job that still runs.
UPDATE_INTERVAL = "3s"
MAIN_CLASS = "org.apache.spark.deploy.history.HistoryServer"

#: Spark loads the class that an event names and fills it from the event. Before 3.5.7 and 4.0.1 it does so for every class
#: (SPARK-52381), and a job can write any event into its log.
EVENT_CLASS = re.compile(
    r"(?:org\.apache\.spark\.(?:[a-z]\w*\.)+)?SparkListener[A-Z]\w*"
    r"|org\.apache\.spark\.sql\.streaming\.StreamingQueryListener\$Query[A-Z]\w*Event",
    re.ASCII,
)
APPLICATION_ID = re.compile(r"[\w-]{1,200}", re.ASCII)
VERSION = re.compile(r"(\d{1,4})\.(\d{1,4})")
CORE_JAR = re.compile(r"spark-core_[\d.]+-(\d[\w.-]*)\.jar")
#: The server needs nothing else of the environment. Other variables may be credentials, such as MSP_TOKEN.
INHERITED = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "JAVA_HOME")


class Spark(NamedTuple):
    """An installation of Spark."""

    home: Path
    version: str


class EventLogFile:
    """Writes the events of a job to a file that the History Server reads. Lines that are no events of Spark are left out."""

    def __init__(self, folder: Path, name: str) -> None:
        self._ended_path = folder / name
        # By its end Spark distinguishes the log of an application that still runs.
        self._path = folder / f"{name}.inprogress"
        # Unbuffered, because the server reads the file while it grows.
        self._file = self._path.open("wb", buffering=0)
        self._size = 0
        self.application_id: Optional[str] = None
        self.spark_version: Optional[str] = None
        #: Number of lines that were left out.
        self.skipped = 0

    def add(self, line: str) -> None:
        event = event_of(line)
        if event is None:
            self.skipped += line.strip() != ""
            return
        # Rewritten, so that Spark cannot read another class in the line than this program.
        text = json.dumps(event, separators=(",", ":")).encode() + b"\n"
        self._size += len(text)
        if self._size > MAX_LOG_BYTES:
            raise ManagedSparkError(
                f"The event log is longer than {MAX_LOG_BYTES >> 30} GiB, which a History Server of this machine may not hold. "
                "Download it from the platform, and open it with a History Server that has more memory."
            )
        self._file.write(text)
        self._note(event)

    def end(self) -> None:
        """Marks the log as complete: the application has ended."""
        self._file.close()
        self._path.rename(self._ended_path)

    def close(self) -> None:
        self._file.close()

    def _note(self, event: Dict[str, Any]) -> None:
        if event["Event"] == "SparkListenerLogStart" and self.spark_version is None:
            self.spark_version = str(event.get("Spark Version"))
        if event["Event"] == "SparkListenerApplicationStart" and self.application_id is None:
            found = str(event.get("App ID"))
            if not APPLICATION_ID.fullmatch(found):
                raise ManagedSparkError("The event log cannot be shown: it has no valid id of an application.")
            self.application_id = found


class HistoryServer:
    """A History Server with the log of one application. It listens on the loopback address until it is closed."""

    def __init__(self, spark: Spark, java: str, folder: Path) -> None:
        self._log_path = folder / "server.log"
        self.port = _free_port()
        settings = folder / "history.properties"
        settings.write_text(_properties(folder / "events", self.port), encoding="latin-1")
        command = [
            java,
            *("-cp", str(spark.home / "jars" / "*")),
            # The server lives for some minutes and compiles little code often.
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            f"-Xmx{os.environ.get('SPARK_DAEMON_MEMORY') or MEMORY}",
            *(MAIN_CLASS, "--properties-file", str(settings)),
        ]
        env = {name: os.environ[name] for name in INHERITED if name in os.environ}
        with self._log_path.open("wb") as log:
            self._process = subprocess.Popen(
                command,
                cwd=folder,
                env={**env, "SPARK_LOCAL_IP": "127.0.0.1"},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def close(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def url(self, application_id: str) -> str:
        """Returns the URL of the application. Its pages have names and texts of the job, whose scripts must not share an origin, or
        cookies, with other servers of this machine, so the host is a name that no other server has.
        """
        return f"http://spark-{secrets.token_hex(4)}.localhost:{self.port}/history/{application_id}/jobs/"

    def await_application(self, application_id: str) -> None:
        """Waits until the server has read the log."""
        deadline = time.monotonic() + START_SECONDS
        address = f"http://127.0.0.1:{self.port}/api/v1/applications/{application_id}"
        # A proxy of the environment cannot reach this machine.
        with httpx.Client(trust_env=False, timeout=10) as http:
            while time.monotonic() < deadline:
                self.check()
                try:
                    if http.get(address).status_code == 200:
                        return
                except httpx.HTTPError:
                    pass
                time.sleep(0.2)
        raise self._failed(f"did not read the event log within {START_SECONDS:.0f} seconds")

    def check(self) -> None:
        """Raises an error if the server has ended."""
        code = self._process.poll()
        if code is not None:
            raise self._failed(f"ended with code {code}")

    def _failed(self, what: str) -> ManagedSparkError:
        return ManagedSparkError(f"Spark's History Server {what}: {_telling_line(self._log_path)}")


def event_of(line: str) -> Optional[Dict[str, Any]]:
    """Returns the event in a line of an event log; None if it is not an event of Spark itself."""
    try:
        event = json.loads(line, object_pairs_hook=_unique, parse_float=_finite, parse_constant=_finite)
    except (ValueError, RecursionError):
        return None
    name = event.get("Event") if isinstance(event, dict) else None
    return event if isinstance(name, str) and EVENT_CLASS.fullmatch(name) else None


def find_spark(given: Optional[Path]) -> Spark:
    """Returns the Spark of the given folder, of SPARK_HOME, or of the installed PySpark.
    :raises UsageError: if there is none
    """
    environment = os.environ.get("SPARK_HOME")
    named = given or (Path(environment) if environment else None)
    for home in [named] if named else _installed():
        version = _version_in(home)
        if version is not None:
            return Spark(home, version)
    where = f"{named} has none" if named else "none is installed"
    raise UsageError(
        f"Spark's UI needs Spark on this machine, and {where}. Install PySpark (`pip install pyspark`), or name the folder of a "
        "Spark with --spark-home."
    )


def find_java() -> str:
    """Returns the path of Java.
    :raises UsageError: if there is none
    """
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("java", path=str(Path(home) / "bin")) if home else shutil.which("java")
    if found is None:
        where = f"JAVA_HOME, {home}, has none" if home else "none is on the PATH"
        raise UsageError(f"Spark's UI needs Java on this machine, and {where}. Install Java 17, or set JAVA_HOME to its folder.")
    return found


def check_version(spark: Spark, written_by: Optional[str]) -> None:
    """Raises an error if the log is of a newer Spark, which this one may not understand."""
    ours, theirs = _numbers(spark.version), _numbers(written_by or "")
    if ours is not None and theirs is not None and ours < theirs:
        raise UsageError(
            f"The job ran on Spark {written_by}, and the older Spark {spark.version} in {spark.home} may not read its event log. "
            f"Install a newer one (`pip install 'pyspark>={theirs[0]}.{theirs[1]}'`), or name its folder with --spark-home."
        )


def _installed() -> List[Path]:
    found = importlib.util.find_spec("pyspark")
    return [Path(place) for place in (found.submodule_search_locations if found else None) or []]


def _version_in(home: Path) -> Optional[str]:
    jars = home / "jars"
    # The client of Spark Connect is a PySpark without jars.
    names: Iterable[str] = sorted(os.listdir(jars)) if jars.is_dir() else []
    matches = (CORE_JAR.fullmatch(name) for name in names)
    return next((match[1] for match in matches if match), None)


def _numbers(version: str) -> Optional[Tuple[int, int]]:
    match = VERSION.match(version)
    return (int(match[1]), int(match[2])) if match else None


def _free_port() -> int:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return int(server.getsockname()[1])


def _properties(events: Path, port: int) -> str:
    values = {
        "spark.history.fs.logDirectory": f"file:{events.as_posix()}",
        "spark.history.fs.update.interval": UPDATE_INTERVAL,
        "spark.history.fs.cleaner.enabled": "false",
        "spark.history.ui.port": str(port),
        # Another port than the one that was found free would not be known.
        "spark.port.maxRetries": "0",
        "spark.ui.killEnabled": "false",
    }
    return "".join(f"{key}={_escaped(value)}\n" for key, value in values.items())


def _escaped(value: str) -> str:
    """Escapes a value for a properties file, which is read as Latin-1."""
    return value.replace("\\", "\\\\").encode("ascii", "backslashreplace").decode()


def _telling_line(path: Path) -> str:
    """Returns the last line of the server's log that names an error, or else its last line."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 65_536))
        lines = [line for line in file.read().decode("utf-8", "replace").splitlines() if line.strip()]
    telling = [line for line in lines if re.search(r"ERROR|Exception|Error", line)]
    return on_one_line((telling or lines or ["it wrote nothing"])[-1])[:500]


def _unique(pairs: List[Tuple[str, Any]]) -> Dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("A name occurs twice.")
    return found


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is no number of JSON.")
    return number
