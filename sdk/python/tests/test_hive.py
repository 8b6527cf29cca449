from __future__ import annotations

import sys
import types
from typing import Any, Dict, List, Optional

import pytest

from managed_spark import ConfigurationError, SqlFailed, _hive


class Wrong(Exception):
    pass


class Server:
    """A client of HiveServer2 that gives prepared rows, and records how it was opened."""

    def __init__(self, rows: List[Any], columns: Optional[List[Any]]) -> None:
        self.rows = rows
        self.description = columns
        self.opened: Dict[str, Any] = {}
        self.is_closed = False

    def connect(self, **options: Any) -> Server:
        self.opened = options
        return self

    def cursor(self) -> Server:
        return self

    def set_arraysize(self, size: int) -> None:
        self.arraysize = size

    def execute(self, statement: str) -> None:
        if statement == "wrong":
            raise Wrong(statement)

    def fetchmany(self, size: int) -> List[Any]:
        # As the platform does, it returns fewer rows than it was asked for.
        given, self.rows = self.rows[: min(size, 2)], self.rows[min(size, 2) :]
        return given

    def close(self) -> None:
        self.is_closed = True


def served(monkeypatch: pytest.MonkeyPatch, server: Server) -> Server:
    module: Any = types.ModuleType("impala.dbapi")
    module.connect = server.connect
    monkeypatch.setitem(sys.modules, "impala", types.ModuleType("impala"))
    errors: Any = types.ModuleType("impala.error")
    errors.Error = Wrong
    monkeypatch.setitem(sys.modules, "impala.dbapi", module)
    monkeypatch.setitem(sys.modules, "impala.error", errors)
    return server


def test_rows_are_read_up_to_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    server = served(monkeypatch, Server([(n, n * n) for n in range(6)], [("id", "BIGINT"), ("square", "BIGINT")]))
    found = _hive.query("https://spark.test/api/v1/thrift", "t-1", "select", 5)
    assert (found.columns, len(found), found.is_truncated, server.is_closed) == (["id", "square"], 5, True, True)
    assert found.to_dicts()[2] == {"id": 2, "square": 4}
    names = ("host", "port", "use_ssl", "http_path", "jwt")
    assert [server.opened[name] for name in names] == ["spark.test", 443, True, "api/v1/thrift", "t-1"]


@pytest.mark.parametrize("limit", [6, 100])
def test_all_rows_are_not_truncated(monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    served(monkeypatch, Server([(n,) for n in range(6)], [("id", "BIGINT")]))
    found = _hive.query("http://127.0.0.1:8080/x", "t", "select", limit)
    assert (len(found), found.is_truncated) == (6, False)


def test_a_statement_without_rows_and_a_wrong_one_close_the_session(monkeypatch: pytest.MonkeyPatch) -> None:
    server = served(monkeypatch, Server([], None))
    assert len(_hive.query("http://127.0.0.1:8080/x", "t", "use x", 5)) == 0
    with pytest.raises(SqlFailed, match="wrong"):
        _hive.query("http://127.0.0.1:8080/x", "t", "wrong", 5)
    assert server.is_closed


def test_a_missing_client_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "impala.dbapi", None)
    with pytest.raises(ConfigurationError, match="pip install"):
        _hive.query("http://127.0.0.1:8080/x", "t", "select", 5)
