"""A Python process that has imported PySpark and forks into the Python driver of a run.

Usage: python_zygote.py. Beside this file are two named pipes: `ask`, into which a process writes its process id to be replaced by a
fork, and `answer`, out of which it reads the exit status of the fork. Program, arguments, environment and folder of the fork are those
of the process that asks, so that nothing but the imported modules is shared with earlier forks. Where a fresh interpreter would behave
in another way, the fork becomes one. The process ends when its input does.
"""

import gc
import importlib
import importlib.machinery
import os
import select
import signal
import sys
import types

FOLDER = os.path.dirname(os.path.abspath(__file__))
MODULES = ("pyspark", "pyspark.sql", "pyspark.sql.functions", "pyspark.sql.types", "pyspark.java_gateway")
# The interpreter reads these only when it starts, or reads them with the modules that are imported already.
READ_AT_START = ("PYTHON", "LD_", "LC_", "LANG", "TZ", "MALLOC_")
ALIKE = ("PYTHONPATH", "PYTHONUNBUFFERED", "PYTHONHASHSEED")
POLL_MS = 20
MAX_PID_LENGTH = 32


def at_start(env):
    return {name: value for name, value in env.items() if name.startswith(READ_AT_START) and name != "PYTHONPATH"}


def is_shadowed(entries):
    """True if one of the folders or archives has a module of a name that is imported already."""
    names = {name.partition(".")[0] for name in sys.modules} - {"__main__"}
    finder = importlib.machinery.PathFinder
    return any(finder.find_spec(name, [entry]) is not None for entry in entries for name in names)


class Asker:
    """The process that asks for a fork."""

    def __init__(self, pid):
        self.pid = pid
        with open("/proc/%d/environ" % pid, "rb") as file:
            parts = os.fsdecode(file.read()).split("\0")
        self.env = dict(part.split("=", 1) for part in parts if "=" in part)
        with open("/proc/%d/cmdline" % pid, "rb") as file:
            # The first words are the shell and its script.
            _, shim, *self.argv = os.fsdecode(file.read()).split("\0")[:-1]
        self.merges_streams = shim.endswith("-merged")
        self.folder = os.readlink("/proc/%d/cwd" % pid)
        self.env.setdefault("PWD", self.folder)


def become(asker, base_path, base_env, own_entries):
    """Turns this process into the driver; returns when the program has ended."""
    os.chdir(asker.folder)
    if asker.merges_streams:
        os.dup2(1, 2)
    script = asker.argv[0] if asker.argv else ""
    entries = [entry for entry in asker.env.get("PYTHONPATH", "").split(":") if entry]
    script_folder = os.path.dirname(os.path.abspath(script))
    foreign = [script_folder] + [entry for entry in entries if entry not in own_entries]
    is_changed = at_start(asker.env) != at_start(base_env) or entries[: len(own_entries)] != own_entries
    if not script.endswith(".py") or is_changed or is_shadowed(foreign):
        os.execve(sys.executable, [sys.executable] + asker.argv, asker.env)
    os.environ.clear()
    os.environ.update(asker.env)
    sys.argv[:] = asker.argv
    sys.orig_argv[:] = [sys.executable] + asker.argv
    sys.path[:] = [script_folder] + entries + base_path
    run(script)


def run(script):
    main = types.ModuleType("__main__")
    main.__file__ = script
    main.__builtins__ = __builtins__
    main.__loader__ = importlib.machinery.SourceFileLoader("__main__", script)
    main.__annotations__ = {}
    sys.modules["__main__"] = main
    try:
        with open(script, "rb") as file:
            source = file.read()
    except OSError as error:
        print("%s: can't open file %r: [Errno %d] %s" % (sys.executable, script, error.errno, error.strerror), file=sys.stderr)
        sys.exit(2)
    try:
        exec(compile(source, script, "exec"), main.__dict__)
    except SystemExit:
        raise
    except BaseException as error:
        # The first frame is this function.
        traceback = error.__traceback__.tb_next
        sys.excepthook(type(error), error.with_traceback(traceback), traceback)
        if isinstance(error, KeyboardInterrupt):
            sys.stdout.flush()
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGINT)
        sys.exit(1)


class Forks:
    def __init__(self):
        # It is opened for writing too, because a pipe without a writer has an end.
        self.ask = os.open(FOLDER + "/ask", os.O_RDWR)
        self.poll = select.poll()
        self.poll.register(self.ask, select.POLLIN)
        # Nothing is ever written to the input, so its only event is its end.
        self.poll.register(0, select.POLLIN | select.POLLHUP)

    def next_asker(self):
        if any(fd == 0 for fd, _ in self.poll.poll()):
            os._exit(0)
        return Asker(int(os.read(self.ask, MAX_PID_LENGTH)))

    def await_end(self, child, asker):
        """Returns the exit status of the fork. If the JVM ends first, the process that asks ends, too: nothing else would end it."""
        ended = os.pidfd_open(child)
        try:
            poll = select.poll()
            poll.register(ended, select.POLLIN)
            poll.register(0, select.POLLIN | select.POLLHUP)
            if not any(fd == ended for fd, _ in poll.poll()):
                os.kill(asker.pid, signal.SIGKILL)
                os._exit(0)
        finally:
            os.close(ended)
        _, status = os.waitpid(child, 0)
        code = os.waitstatus_to_exitcode(status)
        return code if code >= 0 else 128 - code

    def close(self):
        os.close(self.ask)


def serve():
    """Forks for each process that asks. Returns only in a fork, whose program has ended."""
    base_env = dict(os.environ)
    own_entries = [entry for entry in base_env.get("PYTHONPATH", "").split(":") if entry]
    base_path = sys.path[1 + len(own_entries) :]
    for name in MODULES:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    forks = Forks()
    while True:
        asker = forks.next_asker()
        child = os.fork()
        if child == 0:
            forks.close()
            gc.unfreeze()
            return become(asker, base_path, base_env, own_entries)
        code = forks.await_end(child, asker)
        with open(FOLDER + "/answer", "w") as answer:
            answer.write("%d\n" % code)


serve()
