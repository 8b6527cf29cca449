"""Serves SQL over HiveServer2's protocol to calls from the run's channel.

Usage: thrift_bridge.py DESCRIPTION, a JSON file; the files of the channel are descriptors 3 and 4. The body of a call is a Thrift
message, which Spark's Thrift server processes in the JVM of this process's session. The server does not listen, because any process on
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
import zlib

from run_channel import RunChannel, close_to_others
from thrift_prefetch import ReadAhead, key_of
from thrift_messages import (
    CLOSES_OPERATION,
    CLOSES_SESSION,
    CONNECTION_REFUSED,
    FETCHES,
    FIRST,
    GENERAL_ERROR,
    INVALID_CURSOR,
    LIMIT_EXCEEDED,
    NEXT,
    NO_CONNECTION,
    OPENS_SESSION,
    ROWS,
    Fetch,
    ForeignMessage,
    Refused,
    UnknownCall,
    asked,
    failure,
    is_final,
    opened,
    sequence_of,
    session_in,
    with_fetch_size,
    with_sequence,
    without_database,
)
from thrift_pages import MAX_RESPONSE_BYTES, TooLong

MIB = 1024 * 1024
MAX_PART_BYTES = 3 * MIB
# Buffer size of a thread's output in the JVM.
WRITE_BUFFER_BYTES = 64 * 1024
HANDLE_BYTES = 16
# Maximum number of calls in progress, and of waiting calls.
MAX_CONCURRENT = 64
MAX_WAITING = 1_000
# Maximum number of sessions per user, and of remembered handles of all users.
MAX_SESSIONS = 200
MAX_HANDLES = 50_000
# Unused sessions are closed after this time; seconds.
SESSION_IDLE = 3_600
# Responses from this size on are compressed, quickly rather than well.
COMPRESSED_FROM = 4 * 1024
COMPRESSION = 1
# Interval at which the server checks for unused sessions; seconds.
SESSION_CHECK = 60
# Maximum number of ids in one payload.
MAX_IDS = 20
RECEIVE_TIMEOUT = 0.25
# Interval of the checks that Spark still works; seconds.
HEALTH_CHECK_INTERVAL = 1
START_TIMEOUT = 60
# Names of Hive's settings of its metastore.
METASTORE_SETTINGS = r"^(javax\.jdo|datanucleus|hive\.metastore)\."

SETTINGS = {
    "hive.server2.transport.mode": "http",
    "hive.server2.thrift.http.port": "0",
    "hive.server2.thrift.bind.host": "127.0.0.1",
    "hive.server2.thrift.http.cookie.auth.enabled": "false",
    # All statements run as the run's user on its node. Clients cannot choose another user.
    "hive.server2.enable.doAs": "false",
    "hive.server2.allow.user.substitution": "false",
    "hive.server2.idle.session.timeout": "%dms" % (SESSION_IDLE * 1_000),
    "hive.server2.idle.operation.timeout": "%dms" % (SESSION_IDLE * 1_000),
    "hive.server2.session.check.interval": "%dms" % (SESSION_CHECK * 1_000),
}


def fail(reason):
    # The node reads the reason of the run's end from this line.
    print("SQL cannot be served: %s" % reason, file=sys.stderr, flush=True)
    os._exit(1)


def watch(context, ending):
    """Ends the run once Spark has ended unintentionally: otherwise it would refuse all calls forever."""
    jvm = context._gateway.proc
    spark = context._jsc.sc()
    while not ending.wait(HEALTH_CHECK_INTERVAL):
        try:
            is_stopped = spark.isStopped()
        except Exception:
            # The connections break before the process ends.
            is_stopped = False
        code = jvm.poll()
        if ending.is_set():
            return
        if code is not None:
            how = "by signal %d" % -code if code < 0 else "with exit code %d" % code
            fail("the JVM of Spark has ended %s.%s" % (how, " The machine may have run out of memory." if code == -9 else ""))
        if is_stopped:
            fail("the SparkContext has stopped. The log says why.")


def reason_of(error):
    """Returns the message of an exception for clients. For an exception of the JVM, it omits the stack trace."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip() != ""]
    return next((line[2:] for line in lines if line.startswith(": ")), lines[0] if lines else type(error).__name__)


class Handles:
    """The owners of sessions and operations: the server itself accepts a handle from any user."""

    def __init__(self):
        self._lock = threading.Lock()
        # User, session of an operation, and time of the last use; the least recently used first.
        self._known = {}

    def sessions_of(self, user):
        now = time.monotonic()
        with self._lock:
            for handle, (_, session, used) in list(self._known.items()):
                if session is not None or now - used < SESSION_IDLE:
                    continue
                del self._known[handle]
            return sum(1 for owner, session, _ in self._known.values() if session is None and owner == user)

    def add(self, handle, user, session=None):
        """Adds the handle of a session, or of an operation of one. Returns the handles that are dropped for it."""
        with self._lock:
            self._known[handle] = (user, session, time.monotonic())
            forgotten = [next(iter(self._known))] if len(self._known) > MAX_HANDLES else []
            return self._forget(forgotten)

    def use(self, handle, user):
        """Returns True if the handle is the user's."""
        with self._lock:
            owner, session, _ = self._known.get(handle, (None, None, 0))
            if owner is None or owner != user:
                return False
            del self._known[handle]
            self._known[handle] = (owner, session, time.monotonic())
            return True

    def drop(self, handle):
        """Drops a session with its operations, or an operation. Returns all dropped handles."""
        with self._lock:
            is_session = self._known.get(handle, (None, None, 0))[1] is None
            of_it = [one for one, (_, of, _) in self._known.items() if of == handle] if is_session else []
            return self._forget([handle] + of_it)

    def _forget(self, handles):
        for handle in handles:
            self._known.pop(handle, None)
        return handles


class Server:
    """Spark's Thrift server, called in its JVM."""

    def __init__(self, session):
        context = session.sparkContext
        jvm = context._jvm
        settings = context._jsc.hadoopConfiguration()
        # The path is secret, so no client can call the server while it listens.
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
        # Looked up once, because each step of a name is a call to the JVM.
        self._processor = getattr(rpc, "TCLIService$Processor")(service)
        self._sessions = jvm.org.apache.hive.service.cli.session.SessionManager
        self._manager = services["SparkSQLCLIService"].getSessionManager()
        self._class_loader = session._jsparkSession.sharedState().jarClassLoader()
        self._jvm = jvm
        self._input = jvm.org.apache.thrift.transport.TMemoryInputTransport
        self._output = jvm.org.apache.thrift.transport.TIOStreamTransport
        self._buffer = jvm.java.io.BufferedOutputStream
        self._file = jvm.java.io.FileOutputStream
        self._protocol = jvm.org.apache.thrift.protocol.TBinaryProtocol
        self._of_thread = threading.local()

    def answer(self, user, message):
        """Returns the response to a message. In PySpark each thread has a thread of the JVM, for which the user name is set."""
        own = self._of_thread
        if not hasattr(own, "line"):
            self._sessions.setIpAddress("127.0.0.1")
            own.line, own.user = Line(self), None
        if own.user != user:
            self._sessions.setUserName(user)
            own.user = user
        return own.line.answer(self._processor, message)

    def use(self, guid, secret, database):
        """Selects the initial database of a session. Spark would do so while it opens the session, but with the class loader that Hive
        gives its sessions, which finds no catalog of the run's packages."""
        jvm = self._jvm
        rpc, wrap = jvm.org.apache.hive.service.rpc.thrift, jvm.java.nio.ByteBuffer.wrap
        identifier = rpc.THandleIdentifier(wrap(guid), wrap(secret))
        handle = jvm.org.apache.hive.service.cli.SessionHandle(rpc.TSessionHandle(identifier))
        jvm.Thread.currentThread().setContextClassLoader(self._class_loader)
        try:
            self._manager.getOperationManager().sessionToContexts().get(handle).sql("use %s" % database)
        except Exception:
            self._manager.closeSession(handle)
            raise

    @staticmethod
    def _share_metastore(session, settings):
        """Points sessions to the metastore that their statements use. A session looks for its metastore when it is closed, and would
        otherwise create one in memory, at the same time as other sessions."""
        client = session._jsparkSession.sharedState().externalCatalog().unwrapped().client()
        for key, value in dict(settings.getValByRegex(METASTORE_SETTINGS)).items():
            settings.set(key, client.getConf(key, value))

    @staticmethod
    def _stop_listening(service):
        field = service.getClass().getDeclaredField("httpServer")
        field.setAccessible(True)
        until = time.monotonic() + START_TIMEOUT
        while time.monotonic() < until:
            http = field.get(service)
            if http is not None and http.isStarted():
                http.stop()
                return
            time.sleep(0.01)
        fail("Spark's Thrift server did not start within %d seconds." % START_TIMEOUT)


class Line:
    """Passes the messages of one thread to the JVM. It is reused because each call to the JVM takes time."""

    def __init__(self, server):
        self._server = server
        # PySpark's connection would take 40 ms for more than a few KiB, because its two sides wait for each other.
        with tempfile.NamedTemporaryFile(prefix="answer-", delete=False) as file:
            self._path = file.name
        self._file = os.open(self._path, os.O_RDWR)
        self._to_file = server._file(self._path, True)
        os.unlink(self._path)
        self._renew()

    def _renew(self):
        server = self._server
        # Not in memory, because the length of a response is unknown until it is complete.
        written = server._buffer(self._to_file, WRITE_BUFFER_BYTES)
        self._written = server._protocol(server._output(written))
        self._message = server._input()
        self._read = server._protocol(self._message)

    def answer(self, processor, message):
        try:
            self._message.reset(message)
            processor.process(self._read, self._written)
            size = os.fstat(self._file).st_size
            if size > MAX_RESPONSE_BYTES:
                raise TooLong(size)
            return os.pread(self._file, size, 0)
        except TooLong:
            raise
        except Exception:
            # Parts of the message may be left in the buffers.
            self._renew()
            raise
        finally:
            # The JVM appends to the file.
            os.ftruncate(self._file, 0)


class Task:
    """A task of a thread: a call, or a prefetch for an operation."""

    def __init__(self, call=None, user="", body=b"", operation=None):
        self.call = call
        self.user = user
        self.body = body
        self.operation = operation


class Response:
    """The response to a call, with the id of a prefetched page and the operation whose next pages may be prefetched."""

    def __init__(self, body=b"", outcome="ok", page=None, operation=None, final=False):
        self.body = body
        self.outcome = outcome
        self.page = page
        self.operation = operation
        # True if the call would get the same response again.
        self.final = final


class Calls:
    """Receives calls from the channel and responds to them. Each thread runs one call."""

    def __init__(self, channel, server, session, idle):
        self.channel = channel
        self.server = server
        self.session = session
        self.idle = idle
        self.handles = Handles()
        # By then the server has closed unused sessions.
        self.ahead = ReadAhead(SESSION_IDLE + 3 * SESSION_CHECK)
        self.lock = threading.Lock()
        # Calls in progress, and whether the caller of each still waits.
        self.awaited = {}
        self.threads = 0
        # Number of prefetches, running or queued.
        self.reading = 0
        self.work = queue.Queue()

    def say(self, header, body=b""):
        self.channel.send(json.dumps(header).encode() + b"\n" + body)

    def answer(self, call, outcome, body=b"", **more_of_last):
        for header, part in self.parts(call, outcome, body, more_of_last):
            self.say(header, part)

    def answer_ahead(self, page):
        """Sends a response that no client has requested yet, all parts together."""
        parts = list(self.parts(page.id, "ok", page.body, {}))
        parts[-1][0]["ahead"] = {"key": page.key, "parts": len(parts)}
        self.channel.send(*(json.dumps(header).encode() + b"\n" + part for header, part in parts))

    @staticmethod
    def parts(call, outcome, body, more_of_last):
        """Returns the parts of a response with their headers. It is compressed because each byte is written and read several times."""
        if len(body) >= COMPRESSED_FROM:
            body = zlib.compress(body, COMPRESSION)
            more_of_last = dict(more_of_last, deflated=True)
        view = memoryview(body)
        for at in range(0, len(body) or 1, MAX_PART_BYTES):
            more = at + MAX_PART_BYTES < len(body)
            header = {"op": "answer", "id": call, "outcome": outcome, "more": more}
            yield header if more else dict(header, **more_of_last), view[at : at + MAX_PART_BYTES]

    def say_void(self, ids):
        for at in range(0, len(ids), MAX_IDS):
            self.say({"op": "void", "ids": ids[at : at + MAX_IDS]})

    def run(self):
        ending = threading.Event()
        threading.Thread(target=watch, args=(self.session.sparkContext, ending), daemon=True).start()
        self.say({"op": "ready"})
        last = time.monotonic()
        while True:
            payload = self.channel.receive(RECEIVE_TIMEOUT)
            now = time.monotonic()
            if payload is not None:
                self.take(payload)
                last = now
            with self.lock:
                busy = len(self.awaited)
            if busy:
                last = now
            elif self.idle is not None and now - last >= self.idle:
                print("The server received no calls for %d seconds." % self.idle, flush=True)
                ending.set()
                self.session.stop()
                os._exit(0)

    def take(self, payload):
        line, _, body = payload.partition(b"\n")
        header = json.loads(line)
        if header["op"] == "claimed":
            # Processed at once: later calls must not receive the same pages.
            for operation in self.ahead.claimed(header["ids"]):
                if self.ahead.begin(operation):
                    self.enqueue(Task(operation=operation))
            return
        call = header["id"]
        with self.lock:
            if header["op"] == "cancel":
                if call in self.awaited:
                    self.awaited[call] = False
                return
            full = self.work.qsize() >= MAX_WAITING
            if not full:
                self.awaited[call] = True
        if full:
            self.answer(call, "full")
            return
        self.enqueue(Task(call=call, user=str(header.get("user", "")), body=body))

    def enqueue(self, task):
        with self.lock:
            self.reading += 1 if task.call is None else 0
            begins = len(self.awaited) + self.reading > self.threads and self.threads < MAX_CONCURRENT
            self.threads += 1 if begins else 0
        self.work.put(task)
        if begins:
            threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            task = self.work.get()
            operation = task.operation if task.call is None else self.serve_call(task)
            if operation is not None:
                self.read_ahead(operation)
                with self.lock:
                    self.reading -= 1

    def serve_call(self, task):
        """Responds to a call. Returns the operation for which the thread must then prefetch, if any."""
        call = task.call
        with self.lock:
            is_awaited = self.awaited[call]
        response = Response()
        if is_awaited:
            try:
                response = self.relayed(task.user, task.body)
            except ForeignMessage as error:
                response = Response(str(error).encode(), outcome="error")
        prefetches = response.operation is not None and self.ahead.begin(response.operation)
        with self.lock:
            is_awaited = self.awaited.pop(call)
            self.reading += 1 if prefetches else 0
        if is_awaited:
            more = {"final": True} if response.final else {}
            if response.page is not None:
                more["instead_of"] = response.page
            self.answer(call, response.outcome, response.body, **more)
        elif response.page is not None:
            # The page is dropped like every response to a caller that has left.
            self.say_void([response.page])
        return response.operation if prefetches else None

    def relayed(self, user, message):
        try:
            name, handle = asked(message)
        except UnknownCall as unknown:
            return Response(unknown.answer)
        try:
            return self.execute(user, message, name, handle)
        except ForeignMessage:
            raise
        except Exception as error:
            return Response(self.failure_response(user, message, name, error))

    @staticmethod
    def failure_response(user, message, name, error):
        """Returns the response for a failed call."""
        if isinstance(error, Refused):
            return failure(name, sequence_of(message), str(error), error.state)
        print("A call of %s failed: %s" % (user, error), file=sys.stderr, flush=True)
        state = LIMIT_EXCEEDED if isinstance(error, TooLong) else GENERAL_ERROR
        return failure(name, sequence_of(message), "The call failed: %s" % reason_of(error), state)

    def execute(self, user, message, name, handle):
        if handle is None:
            return Response(self.open(user, message))
        if len(handle) != HANDLE_BYTES or not self.handles.use(handle, user):
            raise Refused("The session or operation is not one of %s, or is closed." % user, NO_CONNECTION)
        if name == FETCHES:
            fetch = Fetch(message)
            if fetch.kind == ROWS:
                return self.rows(self.ahead.operation(handle, user), message, fetch)
        answer = self.server.answer(user, message)
        self.note_opened(user, opened(name, answer), handle)
        if name in (CLOSES_SESSION, CLOSES_OPERATION):
            self.say_void(self.ahead.close(self.handles.drop(handle)))
        if name == CLOSES_SESSION:
            print("%s closed a session" % user, flush=True)
        return Response(answer, final=is_final(name, answer))

    def open(self, user, message):
        if self.handles.sessions_of(user) >= MAX_SESSIONS:
            raise Refused("%s has %d sessions already. Close some of them." % (user, MAX_SESSIONS), CONNECTION_REFUSED)
        message, database = without_database(message)
        answer = self.server.answer(user, message)
        session = opened(OPENS_SESSION, answer)
        if session is None:
            return answer
        if database is not None:
            try:
                self.server.use(*session_in(answer), database)
            except Exception as error:
                text = "The session cannot start with the database %s: %s" % (database, reason_of(error))
                raise Refused(text, CONNECTION_REFUSED) from None
        self.note_opened(user, session)
        print("%s opened a session" % user, flush=True)
        return with_fetch_size(answer)

    def note_opened(self, user, handle, session=None):
        """Records the owner of a session or operation before its handle is sent. Does nothing if none was opened."""
        if handle is not None:
            self.say_void(self.ahead.close(self.handles.add(handle, user, session)))

    def rows(self, operation, message, fetch):
        """Responds to a fetch of rows. Calls arrive in the order of the database, so earlier claims are already known."""
        with operation.turn:
            if fetch.begin == NEXT:
                key = key_of(operation.user, message)
                page = self.ahead.next_page(operation)
                if page is None:
                    answer = self.fetched(operation, message, fetch)
                    self.ahead.fetched(operation, message, key, len(answer))
                    return Response(answer, operation=operation)
                # The server's position is after these rows. A client that requests another number receives the page as it is, which
                # the protocol allows, and that number from the next page on.
                self.ahead.fetched(operation, message, key, None)
                answer = with_sequence(page.body, sequence_of(message))
                return Response(answer) if page.id is None else Response(answer, page=page.id, operation=operation)
            self.ahead.unusual(operation)
            if fetch.begin != FIRST and operation.pages:
                raise Refused("Rows were prefetched. Fetch the next ones, or start at the first.", INVALID_CURSOR)
            self.say_void(self.ahead.drop_pages(operation))
            return Response(self.fetched(operation, message, fetch))

    def fetched(self, operation, message, fetch):
        return operation.cursor.fetch(lambda asked: self.server.answer(operation.user, asked), message, fetch)

    def read_ahead(self, operation):
        """Prefetches pages. The caller has called `begin`."""
        while True:
            try:
                with operation.turn:
                    self.read_page(operation)
            finally:
                self.ahead.end(operation)
            self.say_void(self.ahead.close_idle())
            if not self.ahead.begin(operation):
                return

    def read_page(self, operation):
        # The client may have fetched the page, or closed the operation, meanwhile.
        if not self.ahead.is_wanted(operation) or not self.handles.use(operation.handle, operation.user):
            return
        message = operation.message
        try:
            body, is_failure = self.fetched(operation, message, Fetch(message)), False
        except Exception as error:
            body, is_failure = self.failure_response(operation.user, message, FETCHES, error), True
        page = self.ahead.add(operation, body, is_failure)
        if page is None or page.id is None:
            return
        self.answer_ahead(page)
        if self.ahead.said(page):
            self.say_void([page.id])


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        description = json.load(file)
    # Statements can run code in the JVM, or in Python processes that it starts.
    close_to_others()
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
