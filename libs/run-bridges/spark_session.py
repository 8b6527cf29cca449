"""The Spark session of a kernel or a function, which begins beside it."""

import glob
import importlib.util
import os
import sys
import threading


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


class SessionStart:
    """Begins a session in a thread of its own."""

    def __init__(self):
        self.session = None
        # Not the end of the thread: a join that is interrupted takes it for ended (Python 3.11).
        self._begun = threading.Event()
        threading.Thread(target=self._begin, daemon=True).start()

    def wait(self):
        """The session, or what is in its place, once it has begun; can be interrupted."""
        while not self._begun.wait(0.1):
            pass
        return self.session

    def cancel_jobs(self):
        """Ends all jobs of the session; one that has not begun has none."""
        if self.session is not None and not isinstance(self.session, FailedSession):
            self.session.sparkContext.cancelAllJobs()

    @property
    def has_begun(self):
        return self._begun.is_set()

    def _begin(self):
        try:
            find_pyspark()
            from pyspark.sql import SparkSession

            self.session = SparkSession.builder.getOrCreate()
        except BaseException as error:
            self.session = FailedSession(str(error).strip() or type(error).__name__)
        finally:
            self._begun.set()
