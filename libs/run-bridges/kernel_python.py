"""The Python kernel of a notebook: ipykernel with a Spark session at hand as `spark`, and its context as `sc`."""

import os
import re
import sys

from ipykernel.kernelapp import IPKernelApp

from spark_session import FailedSession, SessionStart

NAMES = re.compile(r"\b(spark|sc)\b")


class SparkOfKernel:
    """Gives cells the session, which begins while the first of them run."""

    def __init__(self, shell):
        self.shell = shell
        self.start = SessionStart()
        self.given = False
        shell.events.register("pre_run_cell", self.before_cell)
        # Its own handler of interrupts takes the place of the one by which PySpark cancels jobs.
        shell.set_custom_exc((KeyboardInterrupt,), self.interrupted)

    def before_cell(self, info):
        if self.given or not (self.start.has_begun or NAMES.search(info.raw_cell or "")):
            return
        session = self.start.wait()
        self.given = True
        context = session if isinstance(session, FailedSession) else session.sparkContext
        for name, value in (("spark", session), ("sc", context)):
            self.shell.user_ns.setdefault(name, value)

    def interrupted(self, shell, etype, value, trace, tb_offset=None):
        try:
            self.start.cancel_jobs()
        finally:
            shell.showtraceback((etype, value, trace), tb_offset=tb_offset)


def main():
    app = IPKernelApp.instance(capture_fd_output=False)
    app.initialize(sys.argv[1:] + ["--HistoryManager.enabled=False"])
    # The sockets have been made, with names within the folder before.
    os.chdir(os.environ.pop("KERNEL_WORK"))
    sys.path.insert(0, os.getcwd())
    SparkOfKernel(app.shell)
    app.start()


if __name__ == "__main__":
    main()
