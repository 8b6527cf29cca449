"""Statements for a SQL server, over the protocol of HiveServer2."""

from __future__ import annotations

from typing import List
from urllib.parse import urlsplit

from ._table import Table
from .errors import ConfigurationError, SqlFailed

FETCHED_AT_ONCE = 10_000


def query(url: str, token: str, statement: str, max_rows: int) -> Table:
    """Runs a statement in a session of its own."""
    try:
        from impala.dbapi import connect
        from impala.error import Error
    except ImportError:
        raise ConfigurationError("SQL needs a client of HiveServer2: pip install 'managed-spark[sql]'") from None
    parts = urlsplit(url)
    connection = connect(
        host=parts.hostname,
        port=parts.port or (443 if parts.scheme == "https" else 80),
        use_http_transport=True,
        http_path=parts.path.lstrip("/"),
        use_ssl=parts.scheme == "https",
        auth_mechanism="JWT",
        jwt=token,
    )
    try:
        cursor = connection.cursor()
        cursor.set_arraysize(min(FETCHED_AT_ONCE, max_rows + 1))
        cursor.execute(statement)
        if cursor.description is None:
            return Table([], [], False)
        columns = [str(column[0]) for column in cursor.description]
        rows: List[tuple[object, ...]] = []
        # One more row than asked for tells whether there are more.
        while len(rows) <= max_rows:
            fetched = cursor.fetchmany(min(FETCHED_AT_ONCE, max_rows + 1 - len(rows)))
            if not fetched:
                break
            rows.extend(fetched)
        return Table(columns, rows[:max_rows], len(rows) > max_rows)
    except Error as error:
        raise SqlFailed(str(error)) from error
    finally:
        connection.close()
