"""Parses the parts of a message that the relay to Spark's Thrift server needs: the call, and its session or operation.

Messages use Thrift's binary protocol. All calls of HiveServer2 have one argument, field 1, a struct whose field 1 is the handle of a
session or an operation; only OpenSession has no handle. Every other form is refused, so that no other reader can interpret a message
differently.
"""

import struct

CALL = 1
REPLY = 2
EXCEPTION = 3
# Codes of Thrift's own exception: the server has no such method, or has failed.
UNKNOWN_METHOD = 1
INTERNAL_ERROR = 6
VERSION = 0x80010000

STOP, BOOL, BYTE, DOUBLE, I16, I32, I64, STRING, STRUCT, MAP, SET, LIST = 0, 2, 3, 4, 6, 8, 10, 11, 12, 13, 14, 15
WIDTHS = {BOOL: 1, BYTE: 1, DOUBLE: 8, I16: 2, I32: 4, I64: 8}
FORMS = {I16: ">h", I32: ">i", I64: ">q"}

MAX_VALUES = 20_000
MAX_DEPTH = 16
MAX_NAME_LENGTH = 64
# Maximum length of an error message for a client; characters.
MAX_REASON_LENGTH = 2_000

OPENS_SESSION = "OpenSession"
CLOSES_SESSION = "CloseSession"
CLOSES_OPERATION = "CloseOperation"
FETCHES = "FetchResults"
EXECUTES = "ExecuteStatement"
GETS_INFO = "GetInfo"
GETS_QUERY_ID = "GetQueryId"
GETS_STATUS = "GetOperationStatus"
# Start of a fetch: after the last row, this many rows before the last page, or at the first; and its kind: rows, or the log.
NEXT, PRIOR, FIRST = 0, 1, 4
ROWS = 0
# State of an operation that has all its results.
FINISHED = 2
# Status code of a failed call. SQL states follow.
ERROR_STATUS = 3
CONNECTION_REFUSED = "08004"
NO_CONNECTION = "08003"
INVALID_CURSOR = "24000"
LIMIT_EXCEEDED = "54000"
GENERAL_ERROR = "HY000"
# Protocol version in a response that opens no session: the newest that Spark supports.
NEWEST_PROTOCOL = 9
# The driver and Beeline of Hive 4.0.0 hang if the server names no number of rows.
FETCH_SIZE = b"hive.server2.thrift.resultset.default.fetch.size"
DEFAULT_FETCH_SIZE = b"1000"
DATABASE = b"use:database"
# Calls of a session whose responses contain the handle of an operation.
OPEN_OPERATIONS = {
    EXECUTES,
    "GetTypeInfo",
    "GetCatalogs",
    "GetSchemas",
    "GetTables",
    "GetTableTypes",
    "GetColumns",
    "GetFunctions",
    "GetPrimaryKeys",
    "GetCrossReference",
}
OF_SESSIONS = OPEN_OPERATIONS | {CLOSES_SESSION, GETS_INFO, "SetClientInfo"}
OF_OPERATIONS = {
    GETS_STATUS,
    "CancelOperation",
    CLOSES_OPERATION,
    "GetResultSetMetadata",
    FETCHES,
    GETS_QUERY_ID,
}


class ForeignMessage(Exception):
    """Bytes that are not a message of HiveServer2."""


class UnknownCall(Exception):
    """A call that is not relayed. Clients that try calls of other servers continue if the error is in Thrift."""

    def __init__(self, name, sequence):
        super().__init__("The server has no call %r for clients." % name.decode("ascii", "replace"))
        self.answer = _exception(name, sequence, str(self), UNKNOWN_METHOD)


class Refused(Exception):
    """A call that is refused. Its client receives the error in Thrift, with a SQL state."""

    def __init__(self, text, state):
        super().__init__(text)
        self.state = state


class Reader:
    """Reads one message without keeping more of it than needed."""

    def __init__(self, message):
        self._bytes = message
        self._at = 0
        self._values = 0

    def name(self, kind):
        """Returns the name of the message, which must be of this kind, and its sequence number, both as bytes."""
        (head,) = self._unpack(">I", 4)
        if head != VERSION | kind:
            raise ForeignMessage("It is not a message of Thrift's binary protocol.")
        name = bytes(self._text(MAX_NAME_LENGTH))
        begin = self._at
        self._skip_bytes(4)
        return name, bytes(self._bytes[begin : self._at])

    def fields(self, depth, wanted):
        """Reads a struct. Calls `wanted[id]` at the values of these fields, and skips the others."""
        seen = set()
        while True:
            (kind,) = self._unpack(">B", 1)
            if kind == STOP:
                return
            (number,) = self._unpack(">h", 2)
            # Readers differ in which of two equal fields they use.
            if number in seen:
                raise ForeignMessage("A struct has a field twice.")
            seen.add(number)
            if number in wanted and kind == wanted[number][0]:
                wanted[number][1](depth + 1)
            else:
                self.skip(kind, depth + 1)

    def text_into(self, found):
        def read(_depth):
            found.append(bytes(self._text(MAX_NAME_LENGTH)))

        return STRING, read

    def number_into(self, found, kind):
        def read(_depth):
            found.append(self._unpack(FORMS[kind], WIDTHS[kind])[0])

        return kind, read

    def span_into(self, found, kind):
        """Collects where a value starts and ends."""

        def read(depth):
            begin = self._at
            self.skip(kind, depth)
            found.append((begin, self._at))

        return kind, read

    def entries_into(self, places, entries):
        """Collects the position of the number of entries in a map of texts, and of each entry its key, start, value and end."""

        def read(_depth):
            key, value, count = self._unpack(">BBi", 6)
            places.append(self._at - 4)
            if count > 0 and (key, value) != (STRING, STRING):
                raise ForeignMessage("The message has a value of an unknown kind.")
            self._count(count)
            for _ in range(count):
                begin = self._at
                name = bytes(self._text(None, kept=True))
                size_at = self._at
                self._text(None)
                entries.append((name, begin, size_at, self._at))

        return MAP, read

    def first_count_into(self, found):
        """Collects the number of values in the first of a list of columns: a struct with one field, whose first field is their list."""

        def read(_depth):
            _, columns = self._unpack(">Bi", 5)
            if columns > 0:
                self._skip_bytes(3 + 3)
                found.append(self._unpack(">Bi", 5)[1])
            raise Enough()

        return LIST, read

    def count_into(self, found):
        """Collects the number of items in a list, and stops reading."""

        def read(_depth):
            count = self._unpack(">Bi", 5)[1]
            if count > 0:
                found.append(count)
                raise Enough()

        return LIST, read

    def struct_into(self, wanted):
        return STRUCT, lambda depth: self.fields(depth, wanted)

    def skip(self, kind, depth):
        self._values += 1
        if self._values > MAX_VALUES or depth > MAX_DEPTH:
            raise ForeignMessage("The message has too many values.")
        width = WIDTHS.get(kind)
        if width is not None:
            self._skip_bytes(width)
        elif kind == STRING:
            self._text(None)
        elif kind == STRUCT:
            self.fields(depth, {})
        elif kind == MAP:
            key, value, count = self._unpack(">BBi", 6)
            self._count(count)
            for _ in range(count):
                self.skip(key, depth + 1)
                self.skip(value, depth + 1)
        elif kind in (SET, LIST):
            item, count = self._unpack(">Bi", 5)
            self._count(count)
            for _ in range(count):
                self.skip(item, depth + 1)
        else:
            raise ForeignMessage("The message has a value of an unknown kind.")

    def end(self):
        if self._at != len(self._bytes):
            raise ForeignMessage("There is more than one message.")

    @staticmethod
    def _count(count):
        if not 0 <= count <= MAX_VALUES:
            raise ForeignMessage("The message has too many values.")

    def _unpack(self, form, size):
        begin = self._at
        self._skip_bytes(size)
        return struct.unpack_from(form, self._bytes, begin)

    def _skip_bytes(self, size):
        if size < 0 or self._at + size > len(self._bytes):
            raise ForeignMessage("The message is incomplete.")
        self._at += size

    def _text(self, max_length, kept=False):
        (size,) = self._unpack(">i", 4)
        if max_length is not None and size > max_length:
            raise ForeignMessage("A name is too long.")
        begin = self._at
        self._skip_bytes(size)
        return self._bytes[begin : self._at] if kept or max_length is not None else b""


def asked(message):
    """Returns the name of a call and its handle; None for a call that opens a session."""
    reader = Reader(message)
    written, sequence = reader.name(CALL)
    found = []
    handle = reader.struct_into({1: reader.text_into(found)})
    reader.fields(0, {1: reader.struct_into({1: reader.struct_into({1: handle})})})
    reader.end()
    name = written.decode("ascii", "replace")
    if name == OPENS_SESSION:
        return name, None
    if name not in OF_SESSIONS and name not in OF_OPERATIONS:
        raise UnknownCall(written, sequence)
    if len(found) != 1:
        raise ForeignMessage("The call names no session or operation.")
    return name, found[0]


def opened(name, message):
    """Returns the handle in the response to a call; None if the call opens nothing or has failed."""
    if name != OPENS_SESSION and name not in OPEN_OPERATIONS:
        return None
    reader = Reader(message)
    found = []
    handle = reader.struct_into({1: reader.text_into(found)})
    place = 3 if name == OPENS_SESSION else 2
    try:
        reader.name(REPLY)
        reader.fields(0, {0: reader.struct_into({place: reader.struct_into({1: handle})})})
    except ForeignMessage:
        return None
    return found[0] if len(found) == 1 else None


def is_final(name, answer):
    """Returns True for the state of an operation that has finished: it does not change any more."""
    if name != GETS_STATUS:
        return False
    reader = Reader(answer)
    states = []
    try:
        reader.name(REPLY)
        reader.fields(0, {0: reader.struct_into({2: reader.number_into(states, I32)})})
    except ForeignMessage:
        return False
    return states == [FINISHED]


def session_in(answer):
    """Returns both texts of the handle of a new session."""
    reader = Reader(answer)
    reader.name(REPLY)
    texts = []
    both = {1: reader.text_into(texts), 2: reader.text_into(texts)}
    reader.fields(0, {0: reader.struct_into({3: reader.struct_into({1: reader.struct_into(both)})})})
    return tuple(texts)


def without_database(message):
    """Returns a message that opens a session, without its initial database, and that database; None if it names none."""
    reader = Reader(message)
    reader.name(CALL)
    places, entries = [], []
    reader.fields(0, {1: reader.struct_into({4: reader.entries_into(places, entries)})})
    named = [entry for entry in entries if entry[0] == DATABASE]
    if not named:
        return message, None
    _, _, size_at, end = named[-1]
    database = message[size_at + 4 : end].decode("utf-8", "replace")
    parts, at = [message[: places[0]], struct.pack(">i", len(entries) - len(named))], places[0] + 4
    for _, begin, _, end in named:
        parts.append(message[at:begin])
        at = end
    return b"".join(parts + [message[at:]]), database


def with_fetch_size(answer):
    """Adds the number of rows per fetch to the configuration in a response that opens a session, unless it has one."""
    reader = Reader(answer)
    reader.name(REPLY)
    places, entries, handles = [], [], []
    wanted = {3: reader.span_into(handles, STRUCT), 4: reader.entries_into(places, entries)}
    reader.fields(0, {0: reader.struct_into(wanted)})
    entry = _text(FETCH_SIZE) + _text(DEFAULT_FETCH_SIZE)
    if not places:
        # The configuration follows the handle, as its field number does.
        end = handles[0][1]
        return answer[:end] + struct.pack(">BhBBi", MAP, 4, STRING, STRING, 1) + entry + answer[end:]
    if any(name == FETCH_SIZE for name, *_ in entries):
        return answer
    (at,) = places
    kinds = struct.pack(">BB", STRING, STRING)
    return answer[: at - 2] + kinds + struct.pack(">i", len(entries) + 1) + entry + answer[at + 4 :]


class Fetch:
    """A fetch message that `asked` has accepted."""

    def __init__(self, message):
        reader = Reader(message)
        reader.name(CALL)
        handles, begins, rows, kinds = [], [], [], []
        wanted = {
            1: reader.span_into(handles, STRUCT),
            2: reader.number_into(begins, I32),
            3: reader.number_into(rows, I64),
            4: reader.number_into(kinds, I16),
        }
        reader.fields(0, {1: reader.struct_into(wanted)})
        self.begin = begins[0] if begins else NEXT
        self.kind = kinds[0] if kinds else ROWS
        # Spark refuses a message without the number.
        self.rows = rows[0] if rows else 0
        self._head = message[: _sequence_at(message) + 4]
        self._handle = message[slice(*handles[0])]

    def asking(self, begin, rows):
        """Returns a message that fetches another number of rows, from another start."""
        wanted = _field(I32, 2, struct.pack(">i", begin)) + _field(I64, 3, struct.pack(">q", rows))
        return self._head + _struct(_field(STRUCT, 1, _struct(_field(STRUCT, 1, self._handle) + wanted)))


class Enough(Exception):
    """Ends the reading of a message early."""


class Page:
    """The number of the first row in the response to a fetch, None if it is a failure, and the number of its rows."""

    def __init__(self, answer):
        reader = Reader(answer)
        flags, begins, counts = [], [], []
        rows = {1: reader.number_into(begins, I64), 2: reader.count_into(counts), 3: reader.first_count_into(counts)}
        wanted = {2: reader.span_into(flags, BOOL), 3: reader.struct_into(rows)}
        try:
            reader.name(REPLY)
            reader.fields(0, {0: reader.struct_into(wanted)})
        except (Enough, ForeignMessage):
            pass
        self._answer = answer
        self._flag = flags[0][0] if flags else None
        self.begin = begins[0] if begins else None
        self.count = counts[0] if counts else 0

    def with_more(self):
        """Returns the response with the flag that more rows may follow."""
        if self._flag is None or self.count == 0:
            return self._answer
        return b"".join((self._answer[: self._flag], b"\1", self._answer[self._flag + 1 :]))


def failure(name, sequence, text, state):
    """Returns the response for a failed call in the server's form. Clients show its text."""
    text = text[:MAX_REASON_LENGTH]
    if name == GETS_QUERY_ID:
        # The response of this call has no status.
        return _exception(name.encode(), sequence, text, INTERNAL_ERROR)
    status = _field(I32, 1, struct.pack(">i", ERROR_STATUS)) + _field(STRING, 3, _text(state.encode()))
    answer = _field(STRUCT, 1, _struct(status + _field(STRING, 5, _text(text.encode("utf-8", "replace")))))
    # Adds the other required fields of responses.
    if name == OPENS_SESSION:
        answer += _field(I32, 2, struct.pack(">i", NEWEST_PROTOCOL))
    if name == GETS_INFO:
        answer += _field(STRUCT, 2, _struct(_field(STRING, 1, _text(b""))))
    return _head(REPLY, name.encode(), sequence) + _struct(_field(STRUCT, 0, _struct(answer)))


def sequence_of(message):
    begin = _sequence_at(message)
    return bytes(message[begin : begin + 4])


def with_sequence(message, sequence):
    """Returns the message with the sequence number of another one."""
    begin = _sequence_at(message)
    return b"".join((message[:begin], sequence, message[begin + 4 :]))


def without_sequence(message):
    return with_sequence(message, bytes(4))


def _sequence_at(message):
    (size,) = struct.unpack_from(">i", message, 4)
    return 8 + size


def _exception(name, sequence, text, kind):
    fields = _field(STRING, 1, _text(text.encode("utf-8", "replace"))) + _field(I32, 2, struct.pack(">i", kind))
    return _head(EXCEPTION, name, sequence) + _struct(fields)


def _head(kind, name, sequence):
    return struct.pack(">I", VERSION | kind) + _text(name) + sequence


def _text(value):
    return struct.pack(">i", len(value)) + value


def _field(kind, number, value):
    return struct.pack(">Bh", kind, number) + value


def _struct(fields):
    return fields + struct.pack(">B", STOP)
