"""Statements for an SQL server, over the HiveServer2 protocol."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any, Callable, List, Optional

from ._table import Column, Table
from ._waiting import Deadline, Pauses
from .errors import SqlFailed, UsageError

FETCH_SIZE = 10_000
#: Time for the server to release the resources of a statement, even after the statement's own timeout.
CLOSE_SECONDS = 10.0

#: Sends a message with a timeout in seconds, and returns the answer. It uses the HTTP client of the SDK, with its certificates,
#: proxies and limits, because the transport of impyla does not verify certificates.
Post = Callable[[bytes, float], bytes]


def query(post: Post, statement: str, max_rows: int, deadline: Deadline) -> Table:
    """Runs a statement in a new session."""
    try:
        from impala.error import Error
        from thrift.Thrift import TException
    except ImportError:
        raise UsageError("SQL needs a HiveServer2 client: pip install 'managed-spark[sql]'") from None
    channel = _TimedChannel(post, deadline)
    connection = _connect(channel)
    try:
        cursor = connection.cursor()
        try:
            return _table(cursor, statement, max_rows, deadline)
        finally:
            channel.deadline = Deadline(CLOSE_SECONDS, "Closing the statement")
            # If this fails, the server releases the session after some time.
            with suppress(Exception):
                cursor.close()
    except (Error, TException, EOFError) as error:
        raise SqlFailed(str(error) or type(error).__name__) from error
    finally:
        connection.close()


class _TimedChannel:
    """Sends messages until the deadline."""

    def __init__(self, post: Post, deadline: Deadline) -> None:
        self._post = post
        self.deadline = deadline

    def __call__(self, message: bytes) -> bytes:
        self.deadline.check()
        return self._post(message, self.deadline.left)


def _connect(post: Callable[[bytes], bytes]) -> Any:
    from impala._thrift_api import ThriftClient
    from impala.hiveserver2 import HiveServer2Connection, HS2Service
    from thrift.protocol.TBinaryProtocol import TBinaryProtocolAccelerated
    from thrift.transport.TTransport import TMemoryBuffer, TTransportBase

    class Messages(TTransportBase):  # type: ignore[misc]
        """Buffers a message, posts it on flush, and returns the answer to reads."""

        def __init__(self) -> None:
            self._written = bytearray()
            self._answer = TMemoryBuffer()

        def isOpen(self) -> bool:
            return True

        is_open = isOpen

        def open(self) -> None:
            pass

        def close(self) -> None:
            self._written.clear()

        def read(self, size: int) -> bytes:
            read: bytes = self._answer.read(size)
            return read

        def write(self, data: bytes) -> None:
            self._written += data

        def flush(self) -> None:
            message = bytes(self._written)
            self._written.clear()
            self._answer = TMemoryBuffer(post(message))

    # With more retries, impyla would send a message again after any pause that the server asks for.
    return HiveServer2Connection(HS2Service(ThriftClient(TBinaryProtocolAccelerated(Messages())), retries=1))


def _table(cursor: Any, statement: str, max_rows: int, deadline: Deadline) -> Table:
    cursor.set_arraysize(min(FETCH_SIZE, max_rows + 1))
    cursor.execute_async(statement)
    pauses = Pauses(deadline)
    while cursor.is_executing():
        time.sleep(pauses.next("RUNNING"))
    # This raises the error of a failed statement.
    cursor._wait_to_finish()
    columns = _columns(cursor)
    if columns is None:
        return Table([], [], False)
    rows: List[tuple[object, ...]] = []
    # One row beyond the maximum shows whether there are more.
    while len(rows) <= max_rows:
        deadline.check()
        fetched = cursor.fetchmany(min(FETCH_SIZE, max_rows + 1 - len(rows)))
        if not fetched:
            break
        rows.extend(_readable(fetched, columns))
    return Table(columns, rows[:max_rows], len(rows) > max_rows)


def _columns(cursor: Any) -> Optional[List[Column]]:
    """Returns the columns of the result; None if the statement has none."""
    try:
        described = cursor.description
    except KeyError:
        raise SqlFailed(
            "A column of the result has a type that SQL clients cannot read, such as an interval. Cast it to string."
        ) from None
    if described is None:
        return None
    return [
        Column(str(name), str(kind), precision or 38, scale or 0)
        for name, kind, _, _, precision, scale, _ in described
    ]


def _readable(rows: List[Any], columns: List[Column]) -> List[Any]:
    """Decodes arrays to strings, as maps and structs are; impyla leaves them as bytes."""
    arrays = [index for index, column in enumerate(columns) if column.type == "ARRAY"]
    if not arrays:
        return rows
    return [
        tuple(
            value.decode() if index in arrays and isinstance(value, bytes) else value for index, value in enumerate(row)
        )
        for row in rows
    ]
