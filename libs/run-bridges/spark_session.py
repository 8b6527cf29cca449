"""The Spark session of a kernel or a function, which begins beside it."""

import glob
import importlib.util
import os
import signal
import sys
import threading

# What a process ends with when the JVM of its Spark has ended; the last line of its log says why.
SPARK_ENDED = 70


def find_pyspark():
    """Makes PySpark importable where it is no package of this Python: then it lies in Spark's own folder."""
    if importlib.util.find_spec("pyspark") is None:
        sys.path.extend(sorted(glob.glob(os.path.join(os.environ["SPARK_HOME"], "python", "lib", "*.zip"))))


class FailedSession:
    """In the place of a session that could not begin: whatever is asked of it says why."""

    def __init__(self, reason):
        self.reason = reason

    def __getattr__(self, name):
        raise RuntimeError("There is no Spark session: %s" % self.reason)


def active_context():
    """The context that Spark is asked by, whoever began it; None when there is none."""
    context = getattr(sys.modules.get("pyspark"), "SparkContext", None)
    return context and context._active_spark_context


def with_context(act):
    """Does something with the active context. Never raises: of one that has ended there is nothing left to be done."""
    try:
        context = active_context()
        if context is not None:
            act(context)
    except Exception as error:
        print("Spark could not be asked: %s" % error, file=sys.__stderr__, flush=True)


def why_stopped():
    """Why nothing can be asked of Spark any longer though its JVM is there; None if it can, or nobody knows."""
    try:
        context = active_context()
        if context is None:
            return "its Spark session was stopped, and it began no other."
        return "its SparkContext has stopped." if context._jsc.sc().isStopped() else None
    except Exception:
        return None


def cancel_jobs():
    """Ends all jobs, also those of a session of the user's own."""
    with_context(lambda context: context.cancelAllJobs())


def end_with_spark(log=2):
    """Ends this process with a reason when the JVM ends; whoever began it tells that from the exit code."""

    def ended(why):
        os.write(log, ("\n%s\n" % why).encode())
        os._exit(SPARK_ENDED)

    return ended


def own_packages(folder):
    """Has pip install into a folder of the run, whose packages come before others here and in Python workers."""
    if os.path.isdir(folder) and os.listdir(folder):
        # One of these may have brought another PySpark, and Spark knows only its own.
        find_pyspark()
        import pyspark.sql  # noqa: F401
    # Before anything looks for it: a folder that was not there is not looked for again.
    os.makedirs(folder, exist_ok=True)
    sys.path.insert(0, folder)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [folder, os.environ.get("PYTHONPATH")]))
    os.environ.update(PIP_TARGET=folder, PIP_UPGRADE="1", PIP_NO_INPUT="1", PIP_DISABLE_PIP_VERSION_CHECK="1")


class SessionStart:
    """
    Begins a session in a thread of its own. `ended` is called with the reason when the JVM ends; `log` is a descriptor for
    what it logs, where that of this process is something else.
    """

    def __init__(self, ended=None, log=None):
        self.session = None
        self._ended = ended
        self._log = log
        # Not the end of the thread: a join that is interrupted takes it for ended (Python 3.11).
        self._begun = threading.Event()
        threading.Thread(target=self._begin, daemon=True).start()

    def wait(self):
        """The session, or what is in its place, once it has begun; can be interrupted."""
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

            SparkContext._ensure_initialized(gateway=launch_gateway(popen_kwargs={"stderr": self._log}))
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
