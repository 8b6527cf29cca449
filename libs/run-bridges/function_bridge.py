"""Serves a function of the workspace to calls from the run's channel.

Usage: function_bridge.py DESCRIPTION, a JSON file; the files of the channel are descriptors 3 and 4. A payload is a line of JSON and a
body: see ADR 0037.
"""

import builtins
import importlib.util
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
import traceback
import zipfile

from run_channel import RunChannel
from spark_session import FailedSession, SessionStart, own_packages, why_stopped, with_context

MIB = 1024 * 1024
MAX_RESPONSE_BYTES = 8 * MIB
MAX_PROJECT_BYTES = 256 * MIB
INSTALL_TIMEOUT = 300
# Interval of the checks that Spark still works; seconds.
CHECK_INTERVAL = 1
MAX_LINES = 30
MAX_TEXT_LENGTH = 4_000
# Exit code of the run. The last line of its log has the reason.
FAILED = 1


def fail(reason):
    # The node reads the reason of the run's end from this line.
    print("The function cannot be served: %s" % reason, file=sys.stderr, flush=True)
    os._exit(FAILED)


class Calls:
    """Receives calls from the channel and responds to them. Each thread runs one call."""

    def __init__(self, channel, function, description):
        self.channel = channel
        self.function = function
        self.most = description["max_request_concurrency"]
        self.idle = description["idle_timeout_sec"]
        self.ending = False
        self.project = description["project"]
        self.lock = threading.Lock()
        # Deadlines of the running calls by id. A call is removed once its caller no longer waits.
        self.running = {}
        # Number of threads that still run a call whose caller no longer waits.
        self.stuck = 0
        self.work = queue.Queue()
        self.last = time.monotonic()
        for _ in range(self.most):
            threading.Thread(target=self.serve, daemon=True).start()
        threading.Thread(target=self.watch, daemon=True).start()

    def say(self, header, body=b""):
        self.channel.send(json.dumps(header).encode() + b"\n" + body)

    def answer(self, call, outcome, body=b""):
        self.say({"op": "answer", "id": call, "outcome": outcome}, body)

    def run(self):
        self.say({"op": "ready"})
        self.last = time.monotonic()
        while True:
            payload = self.channel.receive(0.25)
            if payload is not None:
                self.take(payload)
            self.look()

    def take(self, payload):
        line, _, body = payload.partition(b"\n")
        header = json.loads(line)
        call = header["id"]
        with self.lock:
            if header["op"] == "cancel":
                self.leave(call)
                return
            if len(self.running) + self.stuck >= self.most:
                self.answer(call, "full")
                return
            self.running[call] = time.monotonic() + header["timeout_ms"] / 1000
        self.work.put((call, body))

    def look(self):
        """Ends calls that took too long, and the run if there were no calls for long enough."""
        now = time.monotonic()
        with self.lock:
            late = [call for call, deadline in self.running.items() if now >= deadline]
            for call in late:
                self.leave(call)
            stuck, busy = self.stuck, bool(self.running)
        for call in late:
            self.answer(call, "timeout")
            self.note(call, now, "timed out")
        if stuck >= self.most:
            # Threads cannot be killed: a call that never ends would occupy a slot of the function forever.
            fail("All %d slots of the function are occupied by calls that did not end in time." % self.most)
        if busy or stuck:
            self.last = now
        elif self.idle is not None and now - self.last >= self.idle:
            # The watch must not report this stop of Spark as a failure.
            self.ending = True
            print("The function received no calls for %d seconds." % self.idle, flush=True)
            with_context(lambda context: context.stop())
            os._exit(0)

    def leave(self, call):
        """Abandons a call whose caller no longer waits. Its Spark jobs are cancelled; its thread ends when the function returns."""
        if self.running.pop(call, None) is None:
            return
        self.stuck += 1
        cancel = lambda context: context.cancelJobGroup(call)
        threading.Thread(target=with_context, args=(cancel,), daemon=True).start()

    def watch(self):
        """Ends the run once calls can no longer use Spark. A running call may stop Spark in order to start it with other settings."""
        while True:
            time.sleep(CHECK_INTERVAL)
            why = why_stopped()
            with self.lock:
                busy = bool(self.running) or self.stuck > 0
            if why is not None and not busy and not self.ending:
                fail(why)

    def serve(self):
        while True:
            call, body = self.work.get()
            began = time.monotonic()
            try:
                group = "invocation %s" % call
                with_context(lambda context: context.setJobGroup(call, group, interruptOnCancel=True))
                outcome, answer = "ok", self.encoded(self.function(json.loads(body)))
            except BaseException as error:
                outcome, answer = "error", self.described(error)
            with self.lock:
                awaited = self.running.pop(call, None) is not None
                if not awaited:
                    self.stuck -= 1
                self.last = time.monotonic()
            if awaited:
                self.answer(call, outcome, answer)
                self.note(call, began, "ok" if outcome == "ok" else "failed")

    @staticmethod
    def note(call, began, outcome):
        print("invocation %s: %s after %d ms" % (call, outcome, (time.monotonic() - began) * 1000), flush=True)

    @staticmethod
    def encoded(result):
        try:
            text = json.dumps(result, allow_nan=False, ensure_ascii=False).encode("utf-8")
        except (TypeError, ValueError, RecursionError, UnicodeEncodeError) as error:
            raise TypeError("The function returned a value that JSON cannot represent: %s" % error) from None
        if len(text) > MAX_RESPONSE_BYTES:
            raise ValueError("The function returned %d bytes of JSON; at most %d are allowed." % (len(text), MAX_RESPONSE_BYTES))
        return text

    def described(self, error):
        """Returns type, message and the lines of the user's own code, the innermost last."""
        lines = []
        for frame in traceback.extract_tb(error.__traceback__):
            if frame.filename.startswith(self.project):
                name = os.path.relpath(frame.filename, self.project)
                line = "%s:%d in %s: %s" % (name, frame.lineno, frame.name, frame.line or "")
                lines.append(line[:MAX_TEXT_LENGTH])
        description = {"type": type(error).__name__, "message": str(error)[:MAX_TEXT_LENGTH], "lines": lines[-MAX_LINES:]}
        traceback.print_exception(type(error), error, error.__traceback__)
        return json.dumps(description).encode()


def unpacked(archive, folder):
    """Extracts the files of the project into a folder. No entry can be elsewhere."""
    with zipfile.ZipFile(archive) as files:
        if sum(one.file_size for one in files.infolist()) > MAX_PROJECT_BYTES:
            fail("The project of the function has more than %d MiB." % (MAX_PROJECT_BYTES // MIB))
        files.extractall(folder)


def installed(requirements, folder):
    """Installs packages for this run only. The run ends if that fails."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]
    command += ["--target", folder, "-r", requirements]
    try:
        result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=INSTALL_TIMEOUT)
    except subprocess.TimeoutExpired:
        fail("The requirements of the function were not installed within %d seconds." % INSTALL_TIMEOUT)
    output = result.stdout.decode("utf-8", "replace").strip()
    print(output, flush=True)
    if result.returncode != 0:
        last = [line for line in output.splitlines() if line.startswith("ERROR")] or output.splitlines()[-1:]
        fail("The requirements of the function could not be installed: %s" % " ".join(last)[:500])
    own_packages(folder)


def imported(project, script, name):
    path = os.path.realpath(os.path.join(project, script))
    if not path.startswith(os.path.realpath(project) + os.sep) or not os.path.isfile(path):
        fail("The project of the function has no file %s." % script)
    sys.path[:0] = [project, os.path.dirname(path)]
    spec = importlib.util.spec_from_file_location(os.path.splitext(os.path.basename(path))[0], path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        traceback.print_exc()
        fail("The script %s could not be imported: %s: %s" % (script, type(error).__name__, str(error)[:500]))
    function = getattr(module, name, None)
    if not callable(function):
        fail("The script %s has no function %s." % (script, name))
    return function


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        description = json.load(file)
    channel = RunChannel()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: os._exit(0))
    work = os.getcwd()
    project = os.path.join(work, "project")
    unpacked(description["archive"], project)
    if description["requirements"]:
        installed(description["requirements"], os.path.join(work, "site-packages"))
    session = SessionStart(fail).wait()
    if isinstance(session, FailedSession):
        fail("There is no Spark session: %s" % session.reason)
    builtins.spark = session
    function = imported(project, description["script"], description["function"])
    description["project"] = project
    Calls(channel, function, description).run()


if __name__ == "__main__":
    main()
