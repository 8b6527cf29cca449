"""Connects the channel of a notebook's run with its kernel.

Usage: kernel_bridge.py LANGUAGE [JARS], with the files of the channel as descriptors 3 and 4; JARS is the folder of the Scala kernel. It
starts the kernel as its child and passes messages both ways. The kernel runs as the same user but cannot reach the channel, since the
bridge is closed to other processes. Payloads are JSON: see ADR 0034.
"""

import json
import os
import queue
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections import OrderedDict, deque

from kernel_messages import encoded
from kernel_process import PipeKernel, SocketKernel
from run_channel import MAX_PAYLOAD_BYTES, RunChannel, close_to_others
from spark_session import SPARK_ENDED, HandedJvm

NAMES = {"python": "python3", "sql": "sql", "scala": "scala"}
PROGRAMS = {"python": "kernel_python.py", "sql": "kernel_sql.py"}

# Maximum time that the reply of a request waits for its last output.
IDLE_TIMEOUT = 5
# Maximum time until a kernel that executes nothing responds to another request.
RESPONSE_TIMEOUT = 30
# Streams are sent at this interval, or once they have this length.
STREAM_INTERVAL = 0.1
STREAM_AT_ONCE = 64 * 1024
# Output of a cell is delayed this long for its reply, so that all messages of a short cell are processed together.
HOLD_SECONDS = 0.01
MAX_BUFFERED_BYTES = 1024 * 1024
# Maximum printed output of one request; characters.
MAX_PRINTED_BYTES = 1024 * 1024
MAX_PICTURE_BYTES = 10 * 1024 * 1024
MAX_DATA_BYTES = 1024 * 1024
# Maximum number of waiting requests, and of remembered ids.
MAX_WAITING = 1_000
MAX_REMEMBERED_IDS = 10_000
TICK = 0.05


def json_default(value):
    from jupyter_client.jsonutil import json_default as default

    return default(value)


def quoted(number):
    return signal.Signals(-number).name if number < 0 else "exit code %d" % number


class Output:
    """The printed output of a request, and whether it was cut."""

    def __init__(self):
        self.printed = 0
        self.cut = False


class Bridge:
    """The main thread owns all state. Another thread reads the channel."""

    def __init__(self, channel, language, jars, folder, work):
        self.channel = channel
        self.language = language
        self.jars = jars
        self.folder = folder
        self.work = work
        # The JVM of the first kernel, if it was started before the run. Each further kernel starts one of its own.
        self.jvm = HandedJvm.of_run()
        self.kernel = None
        # The reason why there is no kernel, once one has died.
        self.died = None
        self.generation = 0
        self.state = None
        self.waiting = deque()
        self.current = None
        self.reply = None
        self.idle_since_reply = False
        self.replied_at = 0.0
        self.output = Output()
        self.stream = None
        self.held = []
        self.held_bytes = 0
        self.held_since = 0.0
        self.seen = OrderedDict()
        # Requests by id that the kernel has, except those to execute.
        self.asked = OrderedDict()
        self.free_since = 0.0
        self.inbox = queue.Queue(maxsize=100)
        self.wake_read, self.wake_write = os.pipe()
        os.set_blocking(self.wake_write, False)
        self.stopping = False

    # -- the channel

    def say(self, frame):
        payload = encoded(json.dumps(frame, default=json_default, ensure_ascii=False))
        if len(payload) > MAX_PAYLOAD_BYTES:
            payload = json.dumps(self.left_out(frame, len(payload))).encode()
        if not self.held:
            self.held_since = time.monotonic()
        self.held.append(payload)
        self.held_bytes += len(payload)
        if self.held_bytes > MAX_BUFFERED_BYTES:
            self.release()

    @staticmethod
    def left_out(frame, size):
        """Replaces a message that exceeds the limit, so that a caller still receives a reply."""
        message = frame["message"]
        why = "A %s of %d bytes was omitted: at most %d can be sent." % (message["msg_type"], size, MAX_PAYLOAD_BYTES)
        if message["msg_type"].endswith("_reply"):
            content = {"status": "error", "ename": "TooLong", "evalue": why, "traceback": [why]}
            return dict(frame, message=dict(message, content=content, metadata={}))
        header = dict(message["header"], msg_type="stream")
        content = {"name": "stderr", "text": "[%s]\n" % why}
        return dict(frame, message=dict(message, header=header, msg_type="stream", content=content, metadata={}))

    def release(self):
        """Sends all messages that were held back."""
        held, self.held, self.held_bytes = self.held, [], 0
        if held:
            self.channel.send(*held)

    def say_state(self, state, reason=None):
        if state == self.state and reason is None:
            return
        self.state = state
        name = NAMES[self.language]
        self.say(
            {"op": "kernel", "generation": self.generation, "state": state, "reason": reason, "kernel_name": name}
        )

    def say_message(self, message, channel):
        self.flush()
        self.pass_on(message, channel)

    def pass_on(self, message, channel):
        message = dict(message, channel=channel, buffers=[])
        header = message.get("header", {})
        message["msg_id"] = header.get("msg_id", "")
        message["msg_type"] = header.get("msg_type", "")
        self.say({"op": "message", "generation": self.generation, "message": message})

    def answer(self, request, msg_type, content, channel="shell"):
        """Sends a response of the bridge itself."""
        from jupyter_client.session import Session

        session = Session(session="bridge")
        message = session.msg(msg_type, content=content, parent=request)
        self.say_message({key: message[key] for key in ("header", "parent_header", "metadata", "content")}, channel)

    # -- requests

    def read_channel(self):
        """Runs in its own thread."""
        try:
            while not self.stopping:
                payload = self.channel.receive(1)
                if payload is not None:
                    self.inbox.put(payload)
                    self.wake()
        except Exception as error:
            print("The channel of the notebook ended: %s" % error, file=sys.stderr, flush=True)
            self.stopping = True
            self.wake()

    def wake(self):
        try:
            os.write(self.wake_write, b".")
        except BlockingIOError:
            pass

    def take_requests(self):
        while True:
            try:
                payload = self.inbox.get_nowait()
            except queue.Empty:
                return
            try:
                request = json.loads(payload)
                op = request["op"]
            except (ValueError, KeyError, TypeError):
                continue
            if op == "message":
                self.take_message(request)
            elif op == "interrupt":
                self.interrupt()
            elif op == "restart":
                self.restart(int(request["generation"]))
            elif op == "start" and self.kernel is None:
                self.begin(self.generation + 1)
            elif op == "shutdown":
                self.stopping = True

    def take_message(self, request):
        message = request["message"]
        header = message["header"]
        msg_id = header["msg_id"]
        if header["msg_type"] != "execute_request":
            self.ask(message)
            return
        if msg_id in self.seen:
            return
        self.seen[msg_id] = True
        if len(self.seen) > MAX_REMEMBERED_IDS:
            self.seen.popitem(last=False)
        if self.died is not None:
            self.refuse(message, "KernelDied", self.died)
            return
        if self.kernel is None or request.get("generation", 0) < self.generation or len(self.waiting) >= MAX_WAITING:
            self.abort(message)
            return
        self.waiting.append(message)

    def ask(self, message):
        """Forwards a request that executes nothing."""
        if self.kernel is None or len(self.asked) >= MAX_WAITING:
            self.abort(message)
            return
        self.asked[message["header"]["msg_id"]] = message
        self.free_since = time.monotonic()
        self.kernel.send(message.get("channel", "shell"), message)

    def abort_asked(self):
        while self.asked:
            self.abort(self.asked.popitem(last=False)[1])

    def abort(self, message):
        self.answer(message, message["header"]["msg_type"].replace("_request", "_reply"), {"status": "aborted"})
        self.answer(message, "status", {"execution_state": "idle"}, "iopub")

    def refuse(self, message, name, why):
        """Responds to a request to execute with an error."""
        error = {"ename": name, "evalue": why, "traceback": [why]}
        self.answer(message, "error", error, "iopub")
        self.answer(message, "execute_reply", dict(error, status="error", execution_count=0))
        self.answer(message, "status", {"execution_state": "idle"}, "iopub")

    def abort_waiting(self):
        while self.waiting:
            self.abort(self.waiting.popleft())

    def interrupt(self):
        if self.kernel is not None:
            self.abort_waiting()
            self.kernel.interrupt()

    # -- the kernel

    def begin(self, generation):
        self.generation = generation
        self.died = None
        # The requests of the previous kernel can be sent again.
        self.seen.clear()
        self.say_state("starting")
        try:
            self.kernel = self.new_kernel(generation)
        except Exception as error:
            self.died = "The kernel could not be started: %s" % error
            self.say_state("dead", self.died)

    def new_kernel(self, generation):
        if self.language == "scala":
            return PipeKernel(self.jars, generation, self.folder, self.work)
        return SocketKernel(PROGRAMS[self.language], generation, self.folder, self.work)

    def restart(self, generation):
        if generation <= self.generation:
            return
        self.end_kernel("KernelRestarted", "The kernel was restarted.")
        self.begin(generation)

    def end_kernel(self, name, why):
        kernel, self.kernel = self.kernel, None
        # First, so that callers do not wait for the end of Spark.
        self.end_requests(name, why)
        if kernel is not None:
            kernel.end()
        jvm, self.jvm = self.jvm, None
        if jvm is not None:
            jvm.end()
            HandedJvm.forget()

    def lose_kernel(self, why):
        """Responds to all further requests with the reason, until another kernel is started."""
        self.died = "%s Start or restart the kernel." % why
        self.end_kernel("KernelDied", why)
        self.say_state("dead", why)

    def end_requests(self, name, why):
        """Responds to all requests of a kernel that has ended."""
        current, self.current = self.current, None
        if current is not None:
            if self.reply is not None:
                self.say_message(self.reply, "shell")
                self.answer(current, "status", {"execution_state": "idle"}, "iopub")
            else:
                self.refuse(current, name, why)
        self.reply = None
        self.flush()
        while self.died is not None and self.waiting:
            self.refuse(self.waiting.popleft(), name, why)
        self.abort_waiting()
        self.abort_asked()

    def watch(self):
        """Checks for events without a message: a kernel that does not start or has died, and late replies."""
        kernel = self.kernel
        if kernel is None:
            return
        code = kernel.process.poll()
        if code is not None:
            self.take_outputs()
            why = "The kernel ended (%s)." % quoted(code)
            if code == -signal.SIGKILL:
                why += " Its node may lack memory."
            elif code == SPARK_ENDED:
                # The last line of its output has the reason.
                why = "The kernel ended. %s" % kernel.tail.end().rpartition("\n")[2]
            elif not kernel.ready:
                why = ("%s %s" % (why, kernel.tail.end())).strip()
            self.lose_kernel(why)
            return
        if not kernel.ready:
            if time.monotonic() - kernel.began > kernel.start_within:
                self.lose_kernel("The kernel did not respond within %d seconds." % kernel.start_within)
            else:
                kernel.nudge()
            self.free_since = time.monotonic()
            return
        if self.reply is not None and time.monotonic() - self.replied_at > IDLE_TIMEOUT:
            self.finish()
        if self.current is not None:
            # A kernel processes its requests one after the other.
            self.free_since = time.monotonic()
        elif self.asked and time.monotonic() - self.free_since > RESPONSE_TIMEOUT:
            self.abort_asked()
        if self.current is None and self.waiting:
            self.current = self.waiting.popleft()
            self.output = Output()
            self.idle_since_reply = False
            self.kernel.send("shell", self.current)

    def finish(self):
        """Forwards the reply of the current request. All of its output has been forwarded before."""
        reply, message, self.reply, self.current = self.reply, self.current, None, None
        self.say_message(reply, "shell")
        stops = message.get("content", {}).get("stop_on_error", True)
        if stops and reply.get("content", {}).get("status") != "ok":
            self.abort_waiting()

    # -- what the kernel says

    def take_outputs(self):
        kernel = self.kernel
        if kernel is None:
            return
        for message, channel in kernel.received():
            self.take_output(message, channel)
        if kernel.ready and self.state == "starting":
            self.say_state("idle")

    def take_output(self, message, channel):
        msg_type = message["header"]["msg_type"]
        parent = message.get("parent_header", {}).get("msg_id")
        is_current = self.current is not None and parent == self.current["header"]["msg_id"]
        if channel == "shell" and msg_type == "execute_reply":
            if not is_current:
                return
            self.reply = message
            self.replied_at = time.monotonic()
            if self.idle_since_reply:
                self.finish()
            return
        if channel == "shell":
            self.asked.pop(parent, None)
        if channel == "iopub" and msg_type == "stream":
            self.take_stream(message, parent)
            return
        if channel == "iopub" and msg_type in ("display_data", "execute_result", "update_display_data"):
            self.bound_data(message)
        self.say_message(message, channel)
        if channel == "iopub" and msg_type == "status":
            state = message["content"].get("execution_state")
            if state in ("busy", "idle"):
                self.say_state(state)
            if state == "idle" and is_current:
                self.idle_since_reply = True
                if self.reply is not None:
                    self.finish()

    def take_stream(self, message, parent):
        text = message["content"].get("text", "")
        name = message["content"].get("name", "stdout")
        left = MAX_PRINTED_BYTES - self.output.printed
        self.output.printed += len(text)
        if len(text) > left:
            text = text[: max(left, 0)]
        if text:
            if self.stream is None or (self.stream["parent"], self.stream["name"]) != (parent, name):
                self.flush()
                self.stream = {"parent": parent, "name": name, "message": message, "texts": [], "length": 0}
                self.stream["since"] = time.monotonic()
            self.stream["texts"].append(text)
            self.stream["length"] += len(text)
            if self.stream["length"] >= STREAM_AT_ONCE:
                self.flush()
        if self.output.printed > MAX_PRINTED_BYTES and not self.output.cut:
            self.output.cut = True
            self.flush()
            self.note(message, "[Further output is omitted: this cell has printed more than %d characters.]" % MAX_PRINTED_BYTES)

    def note(self, message, text):
        self.pass_on(dict(message, content={"name": "stderr", "text": "\n%s\n" % text}), "iopub")

    def flush(self):
        stream, self.stream = self.stream, None
        if stream is not None:
            content = {"name": stream["name"], "text": "".join(stream["texts"])}
            self.pass_on(dict(stream["message"], content=content), "iopub")

    def bound_data(self, message):
        data = message["content"].get("data", {})
        for kind in list(data):
            limit = MAX_PICTURE_BYTES if kind.startswith("image/") else MAX_DATA_BYTES
            value = data[kind]
            size = len(value) if isinstance(value, str) else len(json.dumps(value, default=json_default))
            if size > limit:
                del data[kind]
                data.setdefault("text/plain", "[%s of %d bytes is omitted: at most %d can be shown.]" % (kind, size, limit))

    # -- the loop

    def run(self):
        threading.Thread(target=self.read_channel, daemon=True).start()
        self.begin(1)
        import zmq

        while not self.stopping:
            poller = zmq.Poller()
            poller.register(self.wake_read, zmq.POLLIN)
            if self.kernel is not None:
                for place, events in self.kernel.polled():
                    poller.register(place, events)
            for found, _ in poller.poll(self.poll_timeout()):
                if found == self.wake_read:
                    os.read(self.wake_read, 4096)
            self.take_requests()
            self.take_outputs()
            if self.stream is not None and time.monotonic() - self.stream["since"] >= STREAM_INTERVAL:
                self.flush()
            self.watch()
            if self.current is None or time.monotonic() - self.held_since >= HOLD_SECONDS:
                self.release()
        self.end_kernel("KernelEnded", "The notebook was stopped.")
        self.say_state("dead", "The notebook was stopped.")
        self.release()

    def poll_timeout(self):
        """Returns the time until the next check; milliseconds."""
        if self.held:
            return int(HOLD_SECONDS * 1_000)
        busy = self.stream is not None or self.reply is not None or (self.kernel is not None and not self.kernel.ready)
        return int(TICK * 1_000) if busy or self.waiting else 500

    def stop(self, *_):
        self.stopping = True
        self.wake()


def main():
    close_to_others()
    language, jars = (sys.argv[1:] + [None])[:2]
    work = os.getcwd()
    folder = tempfile.mkdtemp(prefix="kernel-")
    os.chdir(folder)
    bridge = Bridge(RunChannel(), language, jars, folder, work)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, bridge.stop)
    try:
        bridge.run()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
