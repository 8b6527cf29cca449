"""Serves SQL over HiveServer2's protocol to calls that come over the run's channel.

Usage: thrift_bridge.py DESCRIPTION, a JSON file; the files of the channel are descriptors 3 and 4. The body of a call is a
Thrift message, which Spark's Thrift server answers in the JVM of this process's session. It listens nowhere: whoever else is on
the node could call it otherwise. See ADR 0038.
"""

import json
import os
import queue
import signal
import sys
import tempfile
import threading
import time

from run_channel import RunChannel
from thrift_messages import (
    CLOSES_OPERATION,
    CLOSES_SESSION,
    OPENS_SESSION,
    ForeignMessage,
    UnknownCall,
    asked,
    opened,
)

MIB = 1024 * 1024
LONGEST_ANSWER = 32 * MIB
LONGEST_PART = 3 * MIB
# Memory that a thread keeps for its next answer.
LONGEST_KEPT = MIB
HANDLE_BYTES = 16
# Calls that are under way at once, and that wait for that.
MOST_AT_ONCE = 64
MOST_WAITING = 1_000
# Of one user; and what is remembered of all.
MOST_SESSIONS = 200
MOST_HANDLES = 50_000
# A session that is not used for so long is closed; seconds.
SESSION_IDLE = 3_600
LOOK_EVERY = 0.25
START_WITHIN = 60
# Names of Hive's settings that say where and what its metastore is.
OF_METASTORE = r"^(javax\.jdo|datanucleus|hive\.metastore)\."

SETTINGS = {
    "hive.server2.transport.mode": "http",
    "hive.server2.thrift.http.port": "0",
    "hive.server2.thrift.bind.host": "127.0.0.1",
    "hive.server2.thrift.http.cookie.auth.enabled": "false",
    # All statements run as the user that the run has on its node; nobody may say to be somebody else.
    "hive.server2.enable.doAs": "false",
    "hive.server2.allow.user.substitution": "false",
    "hive.server2.idle.session.timeout": "%dms" % (SESSION_IDLE * 1_000),
    "hive.server2.idle.operation.timeout": "%dms" % (SESSION_IDLE * 1_000),
    "hive.server2.session.check.interval": "60000ms",
}


def fail(reason):
    # By this line the node tells why the run ended.
    print("SQL cannot be served: %s" % reason, file=sys.stderr, flush=True)
    os._exit(1)


class Handles:
    """Whose the sessions and operations are: the server takes a handle from anybody."""

    def __init__(self):
        self._lock = threading.Lock()
        # User, whether it is a session, and when it was last used, the longest unused first.
        self._known = {}

    def sessions_of(self, user):
        now = time.monotonic()
        with self._lock:
            for handle, (_, is_session, used) in list(self._known.items()):
                if not is_session or now - used < SESSION_IDLE:
                    continue
                del self._known[handle]
            return sum(1 for owner, is_session, _ in self._known.values() if is_session and owner == user)

    def add(self, handle, user, is_session):
        with self._lock:
            self._known[handle] = (user, is_session, time.monotonic())
            if len(self._known) > MOST_HANDLES:
                del self._known[next(iter(self._known))]

    def use(self, handle, user):
        """Whether the handle is the user's."""
        with self._lock:
            owner, is_session, _ = self._known.get(handle, (None, False, 0))
            if owner is None or owner != user:
                return False
            del self._known[handle]
            self._known[handle] = (owner, is_session, time.monotonic())
            return True

    def drop(self, handle):
        with self._lock:
            self._known.pop(handle, None)


class Server:
    """Spark's Thrift server, called in its JVM."""

    def __init__(self, session):
        context = session.sparkContext
        jvm = context._jvm
        settings = context._jsc.hadoopConfiguration()
        # As nobody knows it, nobody gets an answer while it listens.
        for key, value in dict(SETTINGS, **{"hive.server2.thrift.http.path": os.urandom(32).hex()}).items():
            settings.set(key, value)
        server = jvm.org.apache.spark.sql.hive.thriftserver.HiveThriftServer2.startWithContext(
            session._jsparkSession.sqlContext()
        )
        services = {service.getClass().getSimpleName(): service for service in server.getServices()}
        service = services["ThriftHttpCLIService"]
        self._stop_listening(service)
        self._share_metastore(session, server.getHiveConf())
        rpc = jvm.org.apache.hive.service.rpc.thrift
        # Looked up once: each step of a name is a call of the JVM.
        self._processor = getattr(rpc, "TCLIService$Processor")(service)
        self._sessions = jvm.org.apache.hive.service.cli.session.SessionManager
        self._input = jvm.org.apache.thrift.transport.TMemoryInputTransport
        self._output = jvm.org.apache.thrift.transport.TIOStreamTransport
        self._stream = jvm.java.io.ByteArrayOutputStream
        self._file = jvm.java.io.FileOutputStream
        self._protocol = jvm.org.apache.thrift.protocol.TBinaryProtocol
        self._of_thread = threading.local()

    def answer(self, user, message):
        """The answer to a message of a user; in PySpark each thread has one of the JVM, to which the name belongs."""
        own = self._of_thread
        if not hasattr(own, "line"):
            self._sessions.setIpAddress("127.0.0.1")
            own.line, own.user = Line(self), None
        if own.user != user:
            self._sessions.setUserName(user)
            own.user = user
        return own.line.answer(self._processor, message)

    @staticmethod
    def _share_metastore(session, settings):
        """Has sessions know the metastore that their statements use: when it is closed, a session looks for one, and by itself it
        would make one in memory, with others trying the same at the same time."""
        client = session._jsparkSession.sharedState().externalCatalog().unwrapped().client()
        for key, value in dict(settings.getValByRegex(OF_METASTORE)).items():
            settings.set(key, client.getConf(key, value))

    @staticmethod
    def _stop_listening(service):
        field = service.getClass().getDeclaredField("httpServer")
        field.setAccessible(True)
        until = time.monotonic() + START_WITHIN
        while time.monotonic() < until:
            http = field.get(service)
            if http is not None and http.isStarted():
                http.stop()
                return
            time.sleep(0.01)
        fail("Spark's Thrift server did not start within %d seconds." % START_WITHIN)


class Line:
    """What one thread hands messages over by; each call of the JVM costs time, so it is kept."""

    def __init__(self, server):
        self._server = server
        # PySpark's connection would take 40 ms for more than some KiB: its sides wait for each other.
        with tempfile.NamedTemporaryFile(prefix="answer-", delete=False) as file:
            self._path = file.name
        self._file = os.open(self._path, os.O_RDWR)
        self._to_file = server._file(self._path, True)
        os.unlink(self._path)
        self._renew()

    def _renew(self):
        server = self._server
        self._stream = server._stream()
        self._written = server._protocol(server._output(self._stream))
        self._message = server._input()
        self._read = server._protocol(self._message)

    def answer(self, processor, message):
        try:
            self._message.reset(message)
            processor.process(self._read, self._written)
            self._stream.writeTo(self._to_file)
            size = os.fstat(self._file).st_size
            if size > LONGEST_ANSWER:
                text = "The answer has %d bytes; it may have %d. Fetch fewer rows."
                raise ForeignMessage(text % (size, LONGEST_ANSWER))
            answer = os.pread(self._file, size, 0)
            if size > LONGEST_KEPT:
                self._renew()
            else:
                self._stream.reset()
            return answer
        except Exception:
            # Something of it may be left.
            self._renew()
            raise
        finally:
            # The JVM appends.
            os.ftruncate(self._file, 0)


class Calls:
    """Takes calls from the channel and answers them, as many at once as there are threads."""

    def __init__(self, channel, server, session, idle):
        self.channel = channel
        self.server = server
        self.session = session
        self.idle = idle
        self.handles = Handles()
        self.lock = threading.Lock()
        # Calls under way, and whether somebody still waits for each.
        self.awaited = {}
        self.threads = 0
        self.work = queue.Queue()

    def say(self, header, body=b""):
        self.channel.send(json.dumps(header).encode() + b"\n" + body)

    def answer(self, call, outcome, body=b""):
        view = memoryview(body)
        for at in range(0, len(body) or 1, LONGEST_PART):
            more = at + LONGEST_PART < len(body)
            self.say({"op": "answer", "id": call, "outcome": outcome, "more": more}, view[at : at + LONGEST_PART])

    def run(self):
        self.say({"op": "ready"})
        last = time.monotonic()
        while True:
            payload = self.channel.receive(LOOK_EVERY)
            now = time.monotonic()
            if payload is not None:
                self.take(payload)
                last = now
            with self.lock:
                busy = len(self.awaited)
            if busy:
                last = now
            elif self.idle is not None and now - last >= self.idle:
                print("Nobody called for %d seconds." % self.idle, flush=True)
                self.session.stop()
                os._exit(0)
            if self.session.sparkContext._gateway.proc.poll() is not None:
                fail("the JVM of Spark has ended.")

    def take(self, payload):
        line, _, body = payload.partition(b"\n")
        header = json.loads(line)
        call = header["id"]
        with self.lock:
            if header["op"] == "cancel":
                if call in self.awaited:
                    self.awaited[call] = False
                return
            full = self.work.qsize() >= MOST_WAITING
            if not full:
                self.awaited[call] = True
            begins = not full and len(self.awaited) > self.threads and self.threads < MOST_AT_ONCE
            self.threads += 1 if begins else 0
        if full:
            self.answer(call, "full")
            return
        self.work.put((call, str(header.get("user", "")), body))
        if begins:
            threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            call, user, body = self.work.get()
            with self.lock:
                is_awaited = self.awaited[call]
            outcome, answer = "error", b""
            if is_awaited:
                try:
                    outcome, answer = "ok", self.relayed(user, body)
                except ForeignMessage as error:
                    answer = str(error).encode()
                except Exception as error:
                    print("A call of %s failed: %s" % (user, error), file=sys.stderr, flush=True)
                    outcome = "unanswerable"
            with self.lock:
                is_awaited = self.awaited.pop(call)
            if is_awaited:
                self.answer(call, outcome, answer)

    def relayed(self, user, message):
        try:
            name, handle = asked(message)
        except UnknownCall as unknown:
            return unknown.answer
        if handle is None and self.handles.sessions_of(user) >= MOST_SESSIONS:
            raise ForeignMessage("%s has %d sessions already. Close some of them." % (user, MOST_SESSIONS))
        if handle is not None and (len(handle) != HANDLE_BYTES or not self.handles.use(handle, user)):
            raise ForeignMessage("The session or operation is not one of %s, or is closed." % user)
        answer = self.server.answer(user, message)
        found = opened(name, answer)
        if found is not None:
            # Before anybody knows it.
            self.handles.add(found, user, name == OPENS_SESSION)
        if name in (CLOSES_SESSION, CLOSES_OPERATION):
            self.handles.drop(handle)
        if name in (OPENS_SESSION, CLOSES_SESSION):
            print("%s %s a session" % (user, "opened" if name == OPENS_SESSION else "closed"), flush=True)
        return answer


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        description = json.load(file)
    channel = RunChannel()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: os._exit(0))
    from spark_session import FailedSession, SessionStart

    session = SessionStart().wait()
    if isinstance(session, FailedSession):
        fail("there is no Spark session: %s" % session.reason)
    try:
        server = Server(session)
    except Exception as error:
        fail("Spark's Thrift server could not be started: %s" % error)
    Calls(channel, server, session, description["idle_timeout_sec"]).run()


if __name__ == "__main__":
    main()
