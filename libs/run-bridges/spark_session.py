"""The Spark session of a kernel or a function, which starts in the background."""

import glob
import importlib.util
import os
import select
import signal
import sys
import threading
import time

# Exit code of a process whose Spark JVM has ended. The last line of its log has the reason.
SPARK_ENDED = 70

JVM_PID = "HANDED_JVM_PID"
FOLDER = os.path.dirname(os.path.abspath(__file__))
# Written by the parent of the JVM.
JVM_CODE = os.path.join(FOLDER, "jvm-code")
# Starts Java with the options of this run. It is absent if the options need the launcher of Spark, whose JVM takes a third of a second.
SUBMIT = os.path.join(FOLDER, "spark-submit")
# Maximum time until the exit code of the JVM is written, and until it ends after a signal; seconds.
CODE_TIMEOUT = 2
END_TIMEOUT = 4


def find_pyspark():
    """Makes the PySpark of SPARK_HOME importable. This Python may have none, or one of another version."""
    home = os.path.realpath(os.environ["SPARK_HOME"])
    package = None if "pyspark" in sys.modules else importlib.util.find_spec("pyspark")
    if "pyspark" not in sys.modules and (package is None or os.path.dirname(os.path.realpath(package.origin)) != home):
        sys.path[:0] = sorted(glob.glob(os.path.join(home, "python", "lib", "*.zip")))


def spark_submit():
    """Returns the program that starts the JVM of this run."""
    return SUBMIT if os.path.exists(SUBMIT) else os.path.join(os.environ["SPARK_HOME"], "bin", "spark-submit")


class FailedSession:
    """Replaces a session that could not start. Every use of it raises the reason."""

    def __init__(self, reason):
        self.reason = reason

    def __getattr__(self, name):
        raise RuntimeError("There is no Spark session: %s" % self.reason)


def active_context():
    """Returns the active Spark context, even if user code created it; None if there is none."""
    context = getattr(sys.modules.get("pyspark"), "SparkContext", None)
    return context and context._active_spark_context


def with_context(act):
    """Applies a function to the active context. Never raises: a context that has ended needs no action."""
    try:
        context = active_context()
        if context is not None:
            act(context)
    except Exception as error:
        print("A call to Spark failed: %s" % error, file=sys.__stderr__, flush=True)


def retry_connections():
    """
    Lets Py4J open a connection twice. After an interrupt it has Java close the connection that waited, and Java may close the next one
    instead. PySpark 4 opens that while the interrupt is on its way out of a call, so the cell ended with an error of Py4J, and the
    interrupt, which cancels the jobs, was lost.
    """
    from py4j.clientserver import JavaClient
    from py4j.protocol import Py4JNetworkError

    connect = JavaClient._create_new_connection

    def _create_new_connection(client):
        try:
            return connect(client)
        except Py4JNetworkError:
            return connect(client)

    JavaClient._create_new_connection = _create_new_connection


def why_stopped():
    """Returns why Spark can no longer be used although its JVM runs; None if it can, or if that is unknown."""
    try:
        context = active_context()
        if context is None:
            return "its Spark session was stopped, and it started no other."
        return "its SparkContext has stopped." if context._jsc.sc().isStopped() else None
    except Exception:
        return None


def cancel_jobs():
    """Cancels all jobs, including those of sessions that the user created."""
    with_context(lambda context: context.cancelAllJobs())


def end_with_spark(log=2):
    """Returns a callback that ends this process with a reason once the JVM has ended. The parent process recognizes the exit code."""

    def ended(why):
        os.write(log, ("\n%s\n" % why).encode())
        os._exit(SPARK_ENDED)

    return ended


def own_packages(folder):
    """Makes pip install into a folder of the run, whose packages precede others here and in Python workers."""
    if os.path.isdir(folder) and os.listdir(folder):
        # One of these packages may include another PySpark, and Spark only works with its own.
        find_pyspark()
        import pyspark.sql  # noqa: F401
    # Created before the first import: Python does not search a folder again that did not exist.
    os.makedirs(folder, exist_ok=True)
    sys.path.insert(0, folder)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [folder, os.environ.get("PYTHONPATH")]))
    os.environ.update(PIP_TARGET=folder, PIP_UPGRADE="1", PIP_NO_INPUT="1", PIP_DISABLE_PIP_VERSION_CHECK="1")


class HandedJvm:
    """A JVM that was started before the run was known, and that is no child of this process. It has the methods of a `Popen`."""

    def __init__(self, pid):
        try:
            self._fd = os.pidfd_open(pid)
        except ProcessLookupError:
            self._fd = None

    @classmethod
    def of_run(cls):
        """Returns the JVM that the environment names; None if the run has to start one."""
        pid = os.environ.get(JVM_PID)
        return None if pid is None else cls(int(pid))

    @staticmethod
    def forget():
        """Lets the child processes of this one start a JVM of their own."""
        for name in (JVM_PID, "PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET"):
            os.environ.pop(name, None)

    def poll(self):
        return None if not self._ends_within(0) else self._code()

    def wait(self):
        self._ends_within(None)
        return self._code()

    def end(self):
        for number in (signal.SIGTERM, signal.SIGKILL):
            if self._ends_within(0):
                return
            try:
                signal.pidfd_send_signal(self._fd, number)
            except ProcessLookupError:
                return
            self._ends_within(END_TIMEOUT)

    def _ends_within(self, seconds):
        if self._fd is None:
            return True
        poll = select.poll()
        poll.register(self._fd, select.POLLIN)
        return bool(poll.poll(None if seconds is None else seconds * 1_000))

    @staticmethod
    def _code():
        until = time.monotonic() + CODE_TIMEOUT
        while not os.path.exists(JVM_CODE) and time.monotonic() < until:
            time.sleep(0.01)
        try:
            with open(JVM_CODE) as file:
                code = int(file.read())
        except (OSError, ValueError):
            return 1
        # A JVM ends with such a code by itself after the signals that ask it to end.
        is_signal = code > 128 and code - 128 not in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
        return 128 - code if is_signal else code


class SessionStart:
    """
    Starts a session in its own thread. `ended` is called with the reason once the JVM has ended. `log` is the descriptor for its log
    if that is not the stderr of this process.
    """

    def __init__(self, ended=None, log=None):
        self.session = None
        self._ended = ended
        self._log = log
        # Not a join of the thread: Python 3.11 treats an interrupted join as its end.
        self._begun = threading.Event()
        threading.Thread(target=self._begin, daemon=True).start()

    def wait(self):
        """Waits for the session, or its replacement, and returns it. Can be interrupted."""
        while not self._begun.wait(0.1):
            pass
        return self.session

    @property
    def has_begun(self):
        return self._begun.is_set()

    def _begin(self):
        try:
            find_pyspark()
            from pyspark import SparkContext
            from pyspark.java_gateway import launch_gateway
            from pyspark.sql import SparkSession

            retry_connections()
            gateway = launch_gateway(popen_kwargs={"stderr": self._log, "executable": spark_submit()})
            if gateway.proc is None:
                gateway.proc = HandedJvm.of_run()
            SparkContext._ensure_initialized(gateway=gateway)
            if self._ended is not None:
                threading.Thread(target=self._watch, args=(SparkContext._gateway.proc,), daemon=True).start()
            self.session = SparkSession.builder.getOrCreate()
        except BaseException as error:
            self.session = FailedSession(str(error).strip() or type(error).__name__)
        finally:
            self._begun.set()

    def _watch(self, jvm):
        code = jvm.wait()
        why = signal.Signals(-code).name if code < 0 else "exit code %d" % code
        hint = " Its node may lack memory." if code == -signal.SIGKILL else ""
        self._ended("The JVM of Spark ended (%s).%s" % (why, hint))
