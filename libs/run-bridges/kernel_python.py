"""The Python kernel of a notebook: ipykernel with a Spark session as `spark`, and its context as `sc`."""

import os
import re
import sys

from ipykernel.kernelapp import IPKernelApp

from spark_session import FailedSession, SessionStart, cancel_jobs, end_with_spark, own_packages

NAMES = re.compile(r"\b(spark|sc)\b")


class InterruptedWait:
    """Replaces the session in a cell that was interrupted while it waited for the session."""

    def __getattr__(self, name):
        raise KeyboardInterrupt


class SparkOfKernel:
    """Provides the session to cells. It starts while the first of them run."""

    def __init__(self, shell, log):
        self.shell = shell
        self.start = SessionStart(end_with_spark(log), log)
        self.given = False
        shell.events.register("pre_run_cell", self.before_cell)
        # ipykernel's own handler of interrupts replaces the one with which PySpark cancels jobs.
        shell.set_custom_exc((KeyboardInterrupt,), self.interrupted)

    def before_cell(self, info):
        if self.given or not (self.start.has_begun or NAMES.search(info.raw_cell or "")):
            return
        try:
            session = self.start.wait()
        except KeyboardInterrupt:
            # IPython runs the cell nevertheless. The cell ends when it uses the session.
            self.give(InterruptedWait(), InterruptedWait())
            return
        self.given = True
        self.give(session, session if isinstance(session, FailedSession) else session.sparkContext)

    def give(self, session, context):
        names = self.shell.user_ns
        for name, value in (("spark", session), ("sc", context)):
            # The user's own variables of these names stay.
            if isinstance(names.setdefault(name, value), InterruptedWait):
                names[name] = value

    def interrupted(self, shell, etype, value, trace, tb_offset=None):
        try:
            cancel_jobs()
        finally:
            shell.showtraceback((etype, value, trace), tb_offset=tb_offset)


def main():
    # From now on a cell shows the output of child processes, but Spark's log stays in the log.
    log = os.dup(2)
    app = IPKernelApp.instance()
    app.initialize(sys.argv[1:])
    # The sockets exist, with names relative to the previous folder.
    os.chdir(os.environ.pop("KERNEL_WORK"))
    own_packages(os.path.join(os.getcwd(), "site-packages"))
    sys.path.insert(0, os.getcwd())
    SparkOfKernel(app.shell, log)
    app.start()


if __name__ == "__main__":
    main()
