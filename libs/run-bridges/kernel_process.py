"""Processes of kernels, and the connections of a notebook's bridge to them."""

import json
import os
import shlex
import signal
import struct
import subprocess
import sys
import threading
import time

from spark_session import spark_submit

FOLDER = os.path.dirname(os.path.abspath(__file__))
# Serializer of the messages between kernel and bridge.
PACKER = "kernel_messages.packed"
# Parts of the names of the sockets.
PORTS = {"shell_port": 1, "iopub_port": 2, "stdin_port": 3, "control_port": 4, "hb_port": 5}

# Maximum time until a kernel ends after a request, and after a signal; seconds.
REQUESTED_END_TIMEOUT = 1
SIGNAL_END_TIMEOUT = 4
NUDGE_INTERVAL = 0.3
TAIL = 2_000
# Maximum messages received in one pass.
MAX_CONCURRENT = 1_000
READ_BYTES = 256 * 1024
# Maximum size of one message over a pipe. No kernel of the platform writes a longer one.
MAX_RECORD_BYTES = 64 * 1024 * 1024


class Tail:
    """Copies the kernel's output outside of messages to the log of the run, and keeps its end."""

    def __init__(self, stream):
        self.text = b""
        self._thread = threading.Thread(target=self._copy, args=(stream,), daemon=True)
        self._thread.start()

    def end(self):
        self._thread.join(1)
        return self.text.decode("utf-8", "replace").strip()

    def _copy(self, stream):
        with stream:
            while True:
                chunk = os.read(stream.fileno(), 65536)
                if not chunk:
                    return
                self.text = (self.text + chunk)[-TAIL:]
                view = memoryview(chunk)
                while view:
                    view = view[os.write(2, view) :]


class KernelProcess:
    """One process. The subclasses connect to it."""

    # Maximum time until it responds; seconds.
    start_within = 90

    def __init__(self, generation, argv, folder, env, pass_fds=()):
        self.generation = generation
        # It has a group of its own in the run's session, so that a signal to the bridge does not reach the kernel.
        self.process = subprocess.Popen(
            argv,
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=2,
            stderr=subprocess.PIPE,
            preexec_fn=os.setpgrp,
            pass_fds=pass_fds,
        )
        self.tail = Tail(self.process.stderr)
        self.began = time.monotonic()

    def end(self):
        """Ends the process and its children: first with a request, so that Spark closes its event log."""
        group = self.process.pid
        if not self.ask_to_end() or not self._gone(group, REQUESTED_END_TIMEOUT):
            for number in (signal.SIGTERM, signal.SIGKILL):
                if not self._signal(group, number) or self._gone(group, SIGNAL_END_TIMEOUT):
                    break
        self.close()

    def _gone(self, group, seconds):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.process.poll()
            if not self._signal(group, 0):
                return True
            time.sleep(0.02)
        return False

    @staticmethod
    def _signal(group, number):
        try:
            os.killpg(group, number)
            return True
        except ProcessLookupError:
            return False


class SocketKernel(KernelProcess):
    """A Jupyter kernel for Python, whose sockets are in a folder that only the run can read."""

    def __init__(self, program, generation, folder, work):
        # The name is relative because the path of a socket must be short.
        self.connection = dict(PORTS, transport="ipc", ip="k%d" % generation, key=os.urandom(32).hex())
        self.connection["signature_scheme"] = "hmac-sha256"
        self.file = os.path.join(folder, "kernel-%d.json" % generation)
        with open(os.open(self.file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as file:
            json.dump(self.connection, file)
        env = dict(os.environ, KERNEL_WORK=work, JPY_PARENT_PID=str(os.getpid()), PYDEVD_DISABLE_FILE_VALIDATION="1")
        options = ["-f", self.file, "--Session.packer=" + PACKER, "--HistoryManager.enabled=False"]
        super().__init__(generation, [sys.executable, os.path.join(FOLDER, program)] + options, folder, env)
        # Imported late: the first kernel starts meanwhile.
        import zmq
        from jupyter_client.session import Session

        self.zmq = zmq
        key = self.connection["key"].encode()
        self.session = Session(key=key, signature_scheme="hmac-sha256", packer=PACKER)
        context = zmq.Context.instance()
        self.sockets = {}
        for channel, kind in (("shell", zmq.DEALER), ("control", zmq.DEALER), ("iopub", zmq.SUB)):
            socket = context.socket(kind)
            socket.linger = 0
            socket.set_hwm(0)
            if kind == zmq.SUB:
                socket.setsockopt(zmq.SUBSCRIBE, b"")
            socket.connect("ipc://%s-%d" % (self.connection["ip"], self.connection[channel + "_port"]))
            self.sockets[channel] = socket
        self.nudged = 0.0
        self.answered = {"shell": False, "iopub": False}

    @property
    def ready(self):
        return all(self.answered.values())

    def polled(self):
        """Returns the sockets to wait for, each with its events."""
        return [(socket, self.zmq.POLLIN) for socket in self.sockets.values()]

    def nudge(self):
        """Sends requests until both sockets respond: messages sent before a socket was connected are lost."""
        now = time.monotonic()
        if now - self.nudged >= NUDGE_INTERVAL:
            self.nudged = now
            self.session.send(self.sockets["shell"], "kernel_info_request", {})

    def send(self, channel, message):
        self.session.send(self.sockets[channel], message)

    def received(self):
        """Returns the received messages, each with its channel."""
        # In this order, output precedes the reply that follows it.
        for channel in ("iopub", "shell", "control"):
            for _ in range(MAX_CONCURRENT):
                message = self._receive(channel)
                if message is None:
                    break
                if channel in self.answered:
                    self.answered[channel] = True
                # Replies to the nudges, and the busy states that they cause, are not passed on.
                is_own = message and message.get("parent_header", {}).get("session") == self.session.session
                if message and not is_own and message["header"]["msg_type"] != "iopub_welcome":
                    yield message, channel

    def _receive(self, channel):
        """Returns the next message of a socket; None if there is none, an empty one for an invalid one."""
        try:
            parts = self.sockets[channel].recv_multipart(self.zmq.NOBLOCK)
        except self.zmq.Again:
            return None
        try:
            _, parts = self.session.feed_identities(parts)
            return self.session.deserialize(parts)
        except Exception as error:
            print("The kernel sent an invalid message: %s" % error, file=sys.stderr, flush=True)
            return {}

    def interrupt(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)

    def ask_to_end(self):
        self.session.send(self.sockets["control"], "shutdown_request", {"restart": False})
        return True

    def close(self):
        for socket in self.sockets.values():
            socket.close()
        try:
            os.unlink(self.file)
        except OSError:
            pass


class PipeKernel(KernelProcess):
    """
    The Scala kernel: a Spark application that reads requests from one pipe and writes responses to another. Other processes cannot reach
    a pipe, unlike a port that Java listens on.
    """

    # Starts a JVM, and in it Spark and a compiler.
    start_within = 240

    def __init__(self, jars, generation, folder, work):
        theirs_in, self._out = os.pipe()
        self._in, theirs_out = os.pipe()
        options = shlex.split(os.environ.get("PYSPARK_SUBMIT_ARGS", ""))[:-1]
        pipes = ["/dev/fd/%d" % theirs_in, "/dev/fd/%d" % theirs_out]
        program = ["--class", "node.ScalaKernel", os.path.join(jars, "scala-kernel.jar")]
        # Images of earlier releases have a kernel that takes its interpreter from this jar.
        toree = os.path.join(jars, "toree.jar")
        argv = [spark_submit()] + options + program + ([toree] if os.path.exists(toree) else []) + pipes
        env = {name: value for name, value in os.environ.items() if name != "PYSPARK_SUBMIT_ARGS"}
        try:
            # Cells run in the run's folder, not in the bridge's.
            super().__init__(generation, argv, work, env, pass_fds=(theirs_in, theirs_out))
        except BaseException:
            self.close()
            raise
        finally:
            os.close(theirs_in)
            os.close(theirs_out)
        os.set_blocking(self._in, False)
        os.set_blocking(self._out, False)
        self.ready = False
        self._unsent = b""
        self._unread = bytearray()
        self._is_open = True

    def polled(self):
        """Returns the descriptors to wait for, each with its events."""
        import zmq

        waits = [(self._in, zmq.POLLIN)] if self._is_open else []
        return waits + ([(self._out, zmq.POLLOUT)] if self._unsent else [])

    def nudge(self):
        """Does nothing: the kernel reports by itself that it is ready."""

    def send(self, _channel, message):
        self._record({"op": "message", "message": {"header": message["header"], "content": message.get("content", {})}})

    def interrupt(self):
        self._record({"op": "interrupt"})

    def ask_to_end(self):
        # A signal ends Java in an orderly way.
        return False

    def received(self):
        """Returns the received messages, each with its channel."""
        self._write()
        for _ in range(MAX_CONCURRENT):
            try:
                frame = self._frame()
                message = frame and frame.get("message")
                is_reply = message and message["header"]["msg_type"].endswith("_reply")
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                print("The kernel sent an invalid message: %s" % error, file=sys.stderr, flush=True)
                # The start of the next message is unknown.
                self._is_open = False
                self.process.terminate()
                return
            if frame is None:
                return
            if message:
                yield message, "shell" if is_reply else "iopub"
            else:
                self.ready = True

    def close(self):
        for fd in (self._in, self._out):
            os.close(fd)

    def _record(self, frame):
        payload = json.dumps(frame).encode()
        self._unsent += struct.pack(">I", len(payload)) + payload
        self._write()

    def _write(self):
        while self._unsent:
            try:
                self._unsent = self._unsent[os.write(self._out, self._unsent) :]
            except BlockingIOError:
                return
            except OSError:
                # The kernel has ended, which its process shows.
                self._unsent = b""

    def _frame(self):
        """Returns the next record; None if none is complete, and after the last one."""
        if not self._is_open:
            return None
        size = self._size()
        while size is None or len(self._unread) < 4 + size:
            try:
                chunk = os.read(self._in, READ_BYTES)
            except BlockingIOError:
                return None
            if not chunk:
                self._is_open = False
                return None
            self._unread += chunk
            size = self._size()
        payload = bytes(self._unread[4 : 4 + size])
        del self._unread[: 4 + size]
        return json.loads(payload)

    def _size(self):
        if len(self._unread) < 4:
            return None
        (size,) = struct.unpack_from(">I", self._unread)
        if size > MAX_RECORD_BYTES:
            raise ValueError("The kernel sent a message of %d bytes." % size)
        return size
