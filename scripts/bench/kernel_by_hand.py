"""A kernel without a platform, by jupyter_client. Input lines are commands, and each gets one output line, all in JSON.

Usage: kernel_by_hand.py PROGRAM FOLDER, with the environment that the kernel is to have.
"""

import json
import os
import signal
import subprocess
import sys
import time

import zmq
from jupyter_client import BlockingKernelClient
from jupyter_client.connect import write_connection_file

TIMEOUT_SECONDS = 120


class KernelByHand:
    def __init__(self, program, folder):
        self.program = program
        self.folder = folder
        self.client = None
        self.process = None
        self.started = 0

    def start(self):
        """Starts the kernel; a request sent at once waits until the kernel listens."""
        self.started += 1
        path = os.path.join(self.folder, "k%d" % self.started)
        file, connection = write_connection_file(
            fname=path + ".json", transport="ipc", ip=path, key=os.urandom(32).hex().encode()
        )
        env = dict(os.environ, KERNEL_WORK=os.getcwd())
        log = open(path + ".log", "wb")
        self.process = subprocess.Popen(
            [sys.executable, self.program, "-f", file], env=env, stdout=log, stderr=log, start_new_session=True
        )
        self.client = BlockingKernelClient(connection_file=file)
        self.client.load_connection_file()
        self.client.start_channels(hb=False, stdin=False)
        return {}

    def execute(self, code):
        """Executes a cell and collects all that it prints meanwhile."""
        shell, iopub = self.client.shell_channel, self.client.iopub_channel
        poller = zmq.Poller()
        for channel in (shell, iopub):
            poller.register(channel.socket, zmq.POLLIN)
        printed = 0
        began = time.perf_counter()
        request_id = self.client.execute(code)
        reply, idle = None, False
        while reply is None or not idle:
            ready = dict(poller.poll(TIMEOUT_SECONDS * 1_000))
            if not ready:
                raise RuntimeError("The kernel did not answer.")
            if iopub.socket in ready:
                message = iopub.get_msg(timeout=0)
                if message["parent_header"].get("msg_id") == request_id:
                    if message["msg_type"] == "stream":
                        printed += len(message["content"]["text"])
                    idle = idle or message["content"].get("execution_state") == "idle"
            if shell.socket in ready:
                message = shell.get_msg(timeout=0)
                if message["parent_header"].get("msg_id") == request_id:
                    reply, ms = message["content"], (time.perf_counter() - began) * 1_000
        if reply["status"] != "ok":
            raise RuntimeError("The cell failed: %s: %s" % (reply["ename"], reply["evalue"]))
        return {"ms": ms, "printed": printed}

    def first(self, code):
        """Starts the kernel, executes a cell and returns the duration of both."""
        began = time.perf_counter()
        self.start()
        # Only the reply can be awaited: messages that the kernel publishes before this client is connected are lost.
        request_id = self.client.execute(code)
        while True:
            message = self.client.get_shell_msg(timeout=TIMEOUT_SECONDS)
            if message["parent_header"].get("msg_id") == request_id:
                break
        ms = (time.perf_counter() - began) * 1_000
        if message["content"]["status"] != "ok":
            raise RuntimeError("The cell failed: %s" % message["content"].get("evalue"))
        return {"ms": ms}

    def end(self):
        self.client.stop_channels()
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        return {}


def main():
    kernel = KernelByHand(sys.argv[1], sys.argv[2])
    commands = {"start": kernel.start, "execute": kernel.execute, "first": kernel.first, "end": kernel.end}
    try:
        for line in sys.stdin:
            command, *words = json.loads(line)
            try:
                answer = commands[command](*words)
            except Exception as error:
                answer = {"error": "%s: %s" % (type(error).__name__, error)}
            print(json.dumps(answer), flush=True)
    finally:
        if kernel.process is not None and kernel.process.poll() is None:
            kernel.end()


main()
