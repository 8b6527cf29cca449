"""Statements for a SQL server, over the protocol of HiveServer2."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any, Callable, List, Optional

from ._table import Column, Table
from ._waiting import Deadline, Pauses
from .errors import ConfigurationError, SqlFailed

FETCHED_AT_ONCE = 10_000
#: How long the server may take to release what a statement held, also after its own time is over.
CLOSE_SECONDS = 10.0

#: Sends a message within some seconds, and returns the answer. It is the client's own way to the platform, with its
#: certificates, proxies and bounds: that of impyla checks no certificate.
Post = Callable[[bytes, float], bytes]


def query(post: Post, statement: str, max_rows: int, deadline: Deadline) -> Table:
    """Runs a statement in a session of its own."""
    try:
        from impala.error import Error
        from thrift.Thrift import TException
    except ImportError:
        raise ConfigurationError("SQL needs a client of HiveServer2: pip install 'managed-spark[sql]'") from None
    within = _Within(post, deadline)
    connection = _connect(within)
    try:
        cursor = connection.cursor()
        try:
            return _table(cursor, statement, max_rows, deadline)
        finally:
            within.deadline = Deadline(CLOSE_SECONDS, "The end of the statement")
            # The server itself releases a session after some time.
            with suppress(Exception):
                cursor.close()
    except (Error, TException, EOFError) as error:
        raise SqlFailed(str(error) or type(error).__name__) from error
    finally:
        connection.close()


class _Within:
    """Sends messages as long as there is time."""

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
        """Collects what is written, posts it, and gives the answer to read."""

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

    # It would repeat a message by itself after a pause of any length that the server tells.
    return HiveServer2Connection(HS2Service(ThriftClient(TBinaryProtocolAccelerated(Messages())), retries=1))


def _table(cursor: Any, statement: str, max_rows: int, deadline: Deadline) -> Table:
    cursor.set_arraysize(min(FETCHED_AT_ONCE, max_rows + 1))
    cursor.execute_async(statement)
    pauses = Pauses(deadline)
    while cursor.is_executing():
        time.sleep(pauses.next("RUNNING"))
    # It reads the error of a statement that failed.
    cursor._wait_to_finish()
    columns = _columns(cursor)
    if columns is None:
        return Table([], [], False)
    rows: List[tuple[object, ...]] = []
    # One more row than asked for tells whether there are more.
    while len(rows) <= max_rows:
        deadline.check()
        fetched = cursor.fetchmany(min(FETCHED_AT_ONCE, max_rows + 1 - len(rows)))
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
    """Makes arrays texts, as maps and structs are; impyla leaves them as bytes."""
    arrays = [index for index, column in enumerate(columns) if column.type == "ARRAY"]
    if not arrays:
        return rows
    return [
        tuple(
            value.decode() if index in arrays and isinstance(value, bytes) else value for index, value in enumerate(row)
        )
        for row in rows
    ]
