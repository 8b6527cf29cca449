"""A Python process that has imported PySpark and forks into the Python driver of a run.

Usage: python_zygote.py [channel]. Beside this file are two named pipes: `ask`, into which a process writes its process id to be replaced by a
fork, and `answer`, out of which it reads the exit status of the fork. Program, arguments, environment and folder of the fork are those
of the process that asks, so that nothing but the imported modules is shared with earlier forks. Where a fresh interpreter would behave
in another way, the fork becomes one. The process ends when its input does.

With `channel`, descriptors 3 and 4 of its parent, the JVM, are the files of a run's channel. A fork that serves a run gets them, and no
other process: nobody else can open the descriptors of this one. Such a fork outlives the JVM, and then decides how the run ends.
"""

import ctypes
import fcntl
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
# The path is compared apart. Spark sets the other one to a word that means the same.
COMPARED_OTHERWISE = ("PYTHONPATH", "PYTHONUNBUFFERED")
# The scripts of Spark set them. A program that is started without these scripts lacks them.
OF_SCRIPTS = ("PYTHONHASHSEED", "SPARK_ENV_LOADED", "SPARK_SCALA_VERSION")
# The path of the program itself. In the environment of the JVM, PYTHONPATH is that of its workers.
OWN_PATH = "BRIDGE_PYTHONPATH"
JVM_PID = "HANDED_JVM_PID"
JVM = os.getppid()
# Exists while the end of a run is that of the program that serves it, and not that of the JVM.
SERVING = FOLDER + "/serving"
# Has the exit status of that program once it has ended.
SERVED = FOLDER + "/served"
END_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
PR_SET_DUMPABLE = 4
MAX_PID_LENGTH = 32


def at_start(env):
    return {name: value for name, value in env.items() if name.startswith(READ_AT_START) and name not in COMPARED_OTHERWISE}


def set_closed(closed):
    """Sets whether the user's other processes can neither trace this one nor open its descriptors."""
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_DUMPABLE, 0 if closed else 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "The process could not be closed to others")


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
        self.serves = shim.endswith("-serving")
        self.folder = os.readlink("/proc/%d/cwd" % pid)
        self.env.setdefault("PWD", self.folder)

    def serving_env(self, base_env):
        """Returns the environment of a program that the agent starts by itself if the driver does not wait for it."""
        env = {name: value for name, value in self.env.items() if name not in OF_SCRIPTS}
        path = env.pop(OWN_PATH, "")
        env.update({"PYTHONPATH": path, JVM_PID: str(JVM)})
        if "PYTHONUNBUFFERED" in base_env:
            env["PYTHONUNBUFFERED"] = base_env["PYTHONUNBUFFERED"]
        return {name: value for name, value in env.items() if name != "PYTHONPATH" or value}


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
    if asker.serves:
        asker.env = asker.serving_env(base_env)
        entries = own_entries + [entry for entry in asker.env.get("PYTHONPATH", "").split(":") if entry]
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
    main.__cached__ = None
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


class Channel:
    """The files of the run's channel, until a run has begun."""

    def __init__(self):
        parent = "/proc/%d/fd/" % JVM
        set_closed(True)
        files = (os.open(parent + "3", os.O_RDONLY), os.open(parent + "4", os.O_WRONLY | os.O_APPEND))
        # Only the program that serves a run has them as 3 and 4.
        self.files = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 10) for fd in files]
        for fd in files:
            os.close(fd)

    def give(self):
        """Makes them the descriptors that the program in this process expects."""
        for fd, known in zip(self.files, (3, 4)):
            os.dup2(fd, known)

    def close(self):
        for fd in self.files:
            os.close(fd)
        self.files = []


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
        """
        Returns the exit status of the fork. If the JVM ends first, the process that asks ends, too: nothing else would end it. A program
        that serves a run is awaited nevertheless.
        """
        ended = os.pidfd_open(child)
        try:
            poll = select.poll()
            poll.register(ended, select.POLLIN)
            poll.register(0, select.POLLIN | select.POLLHUP)
            if not any(fd == ended for fd, _ in poll.poll()):
                self.end(asker)
                if not asker.serves:
                    os._exit(0)
        finally:
            os.close(ended)
        _, status = os.waitpid(child, 0)
        code = os.waitstatus_to_exitcode(status)
        code = code if code >= 0 else 128 - code
        if asker.serves:
            end_serving(code)
        return code

    @staticmethod
    def end(asker):
        try:
            os.kill(asker.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def close(self):
        os.close(self.ask)


def begin_serving():
    """Makes the end of the run that of the next fork. The signals that end the run are for the fork."""
    os.close(os.open(SERVING, os.O_CREAT | os.O_WRONLY, 0o600))
    for number in END_SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def end_serving(code):
    """Leaves the exit status to the parent of the JVM, which reads it from the pipe if it waits already."""
    with open(SERVED, "w") as file:
        file.write("%d\n" % code)
    os.unlink(SERVING)


def to_serve(channel):
    """Makes this process like one that the agent has started for a run."""
    for number in END_SIGNALS:
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    channel.give()
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)


def serve(channel):
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
        if asker.serves:
            begin_serving()
        child = os.fork()
        if child == 0:
            forks.close()
            if channel is not None:
                if asker.serves:
                    to_serve(channel)
                channel.close()
                set_closed(False)
            gc.unfreeze()
            return become(asker, base_path, base_env, own_entries)
        if asker.serves:
            channel.close()
        code = forks.await_end(child, asker)
        with open(FOLDER + "/answer", "w") as answer:
            answer.write("%d\n" % code)


serve(Channel() if sys.argv[1:] == ["channel"] else None)
