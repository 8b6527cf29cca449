from __future__ import annotations

import sys
import types
from typing import Any, List, Optional

import pytest

from managed_spark import ConfigurationError, SqlFailed, Table, _hive
from managed_spark._table import Column
from managed_spark._waiting import Deadline


class Wrong(Exception):
    pass


def described(name: str, kind: str = "BIGINT", precision: Optional[int] = None, scale: Optional[int] = None) -> Any:
    """A column as Python's database clients describe it."""
    return (name, kind, None, None, precision, scale, None)


class Server:
    """A client of HiveServer2 that gives prepared rows."""

    def __init__(self, rows: List[Any], columns: Optional[List[Any]]) -> None:
        self.rows = rows
        self.columns = columns
        self.is_closed = False

    @property
    def description(self) -> Optional[List[Any]]:
        if self.columns and any(kind == "INTERVAL" for _, kind, *_ in self.columns):
            raise KeyError(21)
        return self.columns

    def cursor(self) -> Server:
        return self

    def set_arraysize(self, size: int) -> None:
        self.arraysize = size

    def execute_async(self, statement: str) -> None:
        self.statement = statement

    def is_executing(self) -> bool:
        return self.statement == "endless"

    def _wait_to_finish(self) -> None:
        if self.statement == "wrong":
            raise Wrong(self.statement)

    def fetchmany(self, size: int) -> List[Any]:
        # As the platform does, it returns fewer rows than it was asked for.
        given, self.rows = self.rows[: min(size, 2)], self.rows[min(size, 2) :]
        return given

    def close(self) -> None:
        self.is_closed = True


def served(monkeypatch: pytest.MonkeyPatch, server: Server) -> Server:
    errors: Any = types.ModuleType("impala.error")
    errors.Error = Wrong
    protocol: Any = types.ModuleType("thrift.Thrift")
    protocol.TException = Wrong
    monkeypatch.setitem(sys.modules, "impala", types.ModuleType("impala"))
    monkeypatch.setitem(sys.modules, "impala.error", errors)
    monkeypatch.setitem(sys.modules, "thrift", types.ModuleType("thrift"))
    monkeypatch.setitem(sys.modules, "thrift.Thrift", protocol)
    monkeypatch.setattr(_hive, "_connect", lambda post: server)
    return server


def query(statement: str, max_rows: int) -> Table:
    return _hive.query(lambda message, seconds: b"", statement, max_rows, Deadline(60.0, "The statement"))


def test_rows_are_read_up_to_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    server = served(monkeypatch, Server([(n, n * n) for n in range(6)], [described("id"), described("square")]))
    found = query("select", 5)
    assert (found.columns, len(found), found.is_truncated, server.is_closed) == (["id", "square"], 5, True, True)
    assert found.to_dicts()[2] == {"id": 2, "square": 4}


@pytest.mark.parametrize("limit", [6, 100])
def test_all_rows_are_not_truncated(monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    served(monkeypatch, Server([(n,) for n in range(6)], [described("id")]))
    found = query("select", limit)
    assert (len(found), found.is_truncated) == (6, False)


def test_a_statement_without_rows_and_a_wrong_one_close_the_session(monkeypatch: pytest.MonkeyPatch) -> None:
    server = served(monkeypatch, Server([], None))
    assert len(query("use x", 5)) == 0
    with pytest.raises(SqlFailed, match="wrong"):
        query("wrong", 5)
    assert server.is_closed


def test_stack_traces_are_left_out_of_the_message_of_a_failure() -> None:
    reason = "Job aborted due to stage failure: java.lang.RuntimeException: 'false' is not true!"
    frames = "\n\tat java.base/java.lang.Thread.run(Thread.java:840)\n\nDriver stacktrace:\n\tat a.B.c(B.scala:1)"
    failure = SqlFailed(f"org.apache.hive.service.cli.HiveSQLException: Error running query: {reason}{frames}")
    assert str(failure) == reason
    assert failure.details.endswith("(B.scala:1)")
    assert str(SqlFailed("\n\tat a.B.c(B.scala:1)")) == "\n\tat a.B.c(B.scala:1)"


def test_a_missing_client_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "impala.error", None)
    with pytest.raises(ConfigurationError, match="pip install"):
        query("select", 5)


def test_arrays_are_texts_as_maps_are(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = [described("a", "ARRAY"), described("m", "MAP"), described("b", "BINARY")]
    served(monkeypatch, Server([(b"[1]", '{"k":1}', b"ab"), (None, None, None)], columns))
    found = query("select", 5)
    assert found.rows == [("[1]", '{"k":1}', b"ab"), (None, None, None)]


def test_a_type_that_clients_cannot_read_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    served(monkeypatch, Server([], [described("i", "INTERVAL")]))
    with pytest.raises(SqlFailed, match="Cast it to string"):
        query("select", 5)


def test_dictionaries_do_not_lose_a_column() -> None:
    table = Table([Column("a"), Column("b"), Column("a")], [(1, 2, 3)], False)
    with pytest.raises(ConfigurationError, match="several columns named a"):
        table.to_dicts()


def test_an_empty_result_keeps_its_types() -> None:
    columns = [Column("n", "BIGINT"), Column("price", "DECIMAL", 10, 2), Column("i", "MAP")]
    assert [str(field.type) for field in Table(columns, [], False).to_arrow().schema] == [
        "int64",
        "decimal128(10, 2)",
        "string",
    ]
