"""Statements for a SQL server, over the protocol of HiveServer2."""

from __future__ import annotations

import warnings
from typing import Any, List, Optional
from urllib.parse import urlsplit

from ._table import Column, Table
from .errors import ConfigurationError, SqlFailed

FETCHED_AT_ONCE = 10_000


def query(url: str, token: str, statement: str, max_rows: int) -> Table:
    """Runs a statement in a session of its own."""
    try:
        from impala.error import Error
        from thrift.Thrift import TException
    except ImportError:
        raise ConfigurationError("SQL needs a client of HiveServer2: pip install 'managed-spark[sql]'") from None
    connection = _connect(url, token)
    try:
        cursor = connection.cursor()
        cursor.set_arraysize(min(FETCHED_AT_ONCE, max_rows + 1))
        cursor.execute(statement)
        columns = _columns(cursor)
        if columns is None:
            return Table([], [], False)
        rows: List[tuple[object, ...]] = []
        # One more row than asked for tells whether there are more.
        while len(rows) <= max_rows:
            fetched = cursor.fetchmany(min(FETCHED_AT_ONCE, max_rows + 1 - len(rows)))
            if not fetched:
                break
            rows.extend(_readable(fetched, columns))
        return Table(columns, rows[:max_rows], len(rows) > max_rows)
    except (Error, TException) as error:
        raise SqlFailed(str(error) or type(error).__name__) from error
    finally:
        connection.close()


def _connect(url: str, token: str) -> Any:
    from impala.dbapi import connect

    parts = urlsplit(url)
    with warnings.catch_warnings():
        # It warns of a token without TLS, which the settings allow only to this machine or where the user says so.
        warnings.simplefilter("ignore")
        return connect(
            host=parts.hostname,
            port=parts.port or (443 if parts.scheme == "https" else 80),
            use_http_transport=True,
            http_path=parts.path.lstrip("/"),
            use_ssl=parts.scheme == "https",
            auth_mechanism="JWT",
            jwt=token,
        )


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
