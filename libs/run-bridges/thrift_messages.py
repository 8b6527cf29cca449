"""What the relay to Spark's Thrift server has to know of a message: what it asks for, and of which session or operation.

Messages are of Thrift's binary protocol. All calls of HiveServer2 have one argument, field 1, a struct whose field 1 is the
handle of a session or an operation, but OpenSession, which has none. Whatever is not exactly like that is refused, so that no
other reader can understand something else by it.
"""

import struct

CALL = 1
REPLY = 2
EXCEPTION = 3
# Of Thrift's own exception: the server has no such method.
UNKNOWN_METHOD = 1
VERSION = 0x80010000

STOP, BOOL, BYTE, DOUBLE, I16, I32, I64, STRING, STRUCT, MAP, SET, LIST = 0, 2, 3, 4, 6, 8, 10, 11, 12, 13, 14, 15
WIDTHS = {BOOL: 1, BYTE: 1, DOUBLE: 8, I16: 2, I32: 4, I64: 8}

MOST_VALUES = 20_000
DEEPEST = 16
LONGEST_NAME = 64

OPENS_SESSION = "OpenSession"
CLOSES_SESSION = "CloseSession"
CLOSES_OPERATION = "CloseOperation"
FETCHES = "FetchResults"
# Where a fetch begins: at the row behind the last one, or at the first; and what it fetches: rows, or the log.
NEXT, FIRST = 0, 4
ROWS = 0
# Calls of a session whose answers have the handle of an operation.
OPEN_OPERATIONS = {
    "ExecuteStatement",
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
OF_SESSIONS = OPEN_OPERATIONS | {CLOSES_SESSION, "GetInfo", "SetClientInfo"}
OF_OPERATIONS = {
    "GetOperationStatus",
    "CancelOperation",
    CLOSES_OPERATION,
    "GetResultSetMetadata",
    FETCHES,
    "GetQueryId",
}


class ForeignMessage(Exception):
    """Bytes that are no message of HiveServer2."""


class UnknownCall(Exception):
    """A call that is not relayed. Clients that try what only other servers have go on once they are told so in Thrift."""

    def __init__(self, name, sequence):
        super().__init__("The server has no call %r for clients." % name.decode("ascii", "replace"))
        text = str(self).encode()
        self.answer = b"".join(
            (
                struct.pack(">Ii", VERSION | EXCEPTION, len(name)) + name + sequence,
                struct.pack(">Bhi", STRING, 1, len(text)) + text,
                struct.pack(">Bhi", I32, 2, UNKNOWN_METHOD) + struct.pack(">B", STOP),
            )
        )


class Reader:
    """Reads one message without keeping more of it than is asked for."""

    def __init__(self, message):
        self._bytes = message
        self._at = 0
        self._values = 0

    def name(self, kind):
        """The name of the message, which must be of a kind, and its sequence number, both as bytes."""
        (head,) = self._unpack(">I", 4)
        if head != VERSION | kind:
            raise ForeignMessage("It is no message of Thrift's binary protocol.")
        name = bytes(self._text(LONGEST_NAME))
        begin = self._at
        self._skip_bytes(4)
        return name, bytes(self._bytes[begin : self._at])

    def fields(self, depth, wanted):
        """Passes over a struct; calls `wanted[id]`, if any, at the value of a struct in it, and passes over the others."""
        seen = set()
        while True:
            (kind,) = self._unpack(">B", 1)
            if kind == STOP:
                return
            (number,) = self._unpack(">h", 2)
            # Readers differ in which of two they take.
            if number in seen:
                raise ForeignMessage("A struct has a field twice.")
            seen.add(number)
            if number in wanted and kind == wanted[number][0]:
                wanted[number][1](depth + 1)
            else:
                self.skip(kind, depth + 1)

    def text_into(self, found):
        def read(_depth):
            found.append(bytes(self._text(LONGEST_NAME)))

        return STRING, read

    def number_into(self, found, kind):
        def read(_depth):
            found.append(self._unpack(">i" if kind == I32 else ">h", WIDTHS[kind])[0])

        return kind, read

    def struct_into(self, wanted):
        return STRUCT, lambda depth: self.fields(depth, wanted)

    def skip(self, kind, depth):
        self._values += 1
        if self._values > MOST_VALUES or depth > DEEPEST:
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
        if not 0 <= count <= MOST_VALUES:
            raise ForeignMessage("The message has too many values.")

    def _unpack(self, form, size):
        begin = self._at
        self._skip_bytes(size)
        return struct.unpack_from(form, self._bytes, begin)

    def _skip_bytes(self, size):
        if size < 0 or self._at + size > len(self._bytes):
            raise ForeignMessage("The message ends before it is whole.")
        self._at += size

    def _text(self, longest):
        (size,) = self._unpack(">i", 4)
        if longest is not None and size > longest:
            raise ForeignMessage("A name is too long.")
        begin = self._at
        self._skip_bytes(size)
        return self._bytes[begin : self._at] if longest is not None else b""


def asked(message):
    """What a call asks for, and the handle that it is about; None for one that opens a session."""
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
    """The handle that the answer to a call has; None for a call that opens nothing, or has failed."""
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


def fetched(message):
    """Where a fetch begins and what it fetches; the message is one that `asked` has accepted."""
    reader = Reader(message)
    reader.name(CALL)
    begins, kinds = [], []
    wanted = {2: reader.number_into(begins, I32), 4: reader.number_into(kinds, I16)}
    reader.fields(0, {1: reader.struct_into(wanted)})
    return begins[0] if begins else NEXT, kinds[0] if kinds else ROWS


def sequence_of(message):
    begin = _sequence_at(message)
    return bytes(message[begin : begin + 4])


def with_sequence(message, sequence):
    """The message, or an answer, with the sequence number of another one."""
    begin = _sequence_at(message)
    return b"".join((message[:begin], sequence, message[begin + 4 :]))


def without_sequence(message):
    return with_sequence(message, bytes(4))


def _sequence_at(message):
    (size,) = struct.unpack_from(">i", message, 4)
    return 8 + size
