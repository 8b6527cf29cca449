"""The Python kernel of a notebook: ipykernel with a Spark session at hand as `spark`, and its context as `sc`."""

import os
import re
import sys

from ipykernel.kernelapp import IPKernelApp

from spark_session import FailedSession, SessionStart, cancel_jobs, end_with_spark, own_packages

NAMES = re.compile(r"\b(spark|sc)\b")


class InterruptedWait:
    """In the place of the session in a cell that was interrupted while it waited for it."""

    def __getattr__(self, name):
        raise KeyboardInterrupt


class SparkOfKernel:
    """Gives cells the session, which begins while the first of them run."""

    def __init__(self, shell, log):
        self.shell = shell
        self.start = SessionStart(end_with_spark(log), log)
        self.given = False
        shell.events.register("pre_run_cell", self.before_cell)
        # Its own handler of interrupts takes the place of the one by which PySpark cancels jobs.
        shell.set_custom_exc((KeyboardInterrupt,), self.interrupted)

    def before_cell(self, info):
        if self.given or not (self.start.has_begun or NAMES.search(info.raw_cell or "")):
            return
        try:
            session = self.start.wait()
        except KeyboardInterrupt:
            # IPython runs the cell all the same: it ends where it asks something of the session.
            self.give(InterruptedWait(), InterruptedWait())
            return
        self.given = True
        self.give(session, session if isinstance(session, FailedSession) else session.sparkContext)

    def give(self, session, context):
        names = self.shell.user_ns
        for name, value in (("spark", session), ("sc", context)):
            # What a cell has named so is the user's.
            if isinstance(names.setdefault(name, value), InterruptedWait):
                names[name] = value

    def interrupted(self, shell, etype, value, trace, tb_offset=None):
        try:
            cancel_jobs()
        finally:
            shell.showtraceback((etype, value, trace), tb_offset=tb_offset)


def main():
    # From now on what child processes print is shown by the cell; what Spark logs stays in the log.
    log = os.dup(2)
    app = IPKernelApp.instance()
    app.initialize(sys.argv[1:])
    # The sockets have been made, with names within the folder before.
    os.chdir(os.environ.pop("KERNEL_WORK"))
    own_packages(os.path.join(os.getcwd(), "site-packages"))
    sys.path.insert(0, os.getcwd())
    SparkOfKernel(app.shell, log)
    app.start()


if __name__ == "__main__":
    main()
