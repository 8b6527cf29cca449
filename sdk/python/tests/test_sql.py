"""SQL statements over the HiveServer2 protocol, with a server in memory."""

from __future__ import annotations

import asyncio
from typing import Any, Callable, List

import httpx
import pytest
from conftest import Platform, page

from managed_spark import AsyncClient, Client, DeadlineExceeded, Settings, SqlFailed, Table, Unreachable, _waiting

impala = pytest.importorskip("impala._thrift_gen.TCLIService.ttypes")


class Server:
    """A session in which each statement returns one column of three numbers, unless it is wrong or endless."""

    def __init__(self) -> None:
        self.called: List[str] = []
        self.statement = ""
        self.left = 2

    def __getattr__(self, method: str) -> Callable[[Any], Any]:
        def call(request: Any) -> Any:
            self.called.append(method)
            return getattr(self, f"answer_{method}")(request)

        return call

    def answer_OpenSession(self, request: Any) -> Any:
        session = impala.TSessionHandle(impala.THandleIdentifier(b"s" * 16, b"s" * 16))
        return impala.TOpenSessionResp(status=self.done(), serverProtocolVersion=5, sessionHandle=session)

    def answer_ExecuteStatement(self, request: Any) -> Any:
        self.statement = request.statement
        handle = impala.TOperationHandle(impala.THandleIdentifier(b"o" * 16, b"o" * 16), 0, True)
        return impala.TExecuteStatementResp(status=self.done(), operationHandle=handle)

    def answer_GetOperationStatus(self, request: Any) -> Any:
        states = {"wrong": impala.TOperationState.ERROR_STATE, "endless": impala.TOperationState.RUNNING_STATE}
        state = states.get(self.statement, impala.TOperationState.FINISHED_STATE)
        return impala.TGetOperationStatusResp(
            status=self.done(), operationState=state, errorMessage="No such column.", hasResultSet=True
        )

    def answer_GetResultSetMetadata(self, request: Any) -> Any:
        simple = impala.TTypeEntry(primitiveEntry=impala.TPrimitiveTypeEntry(impala.TTypeId.BIGINT_TYPE))
        column = impala.TColumnDesc("n", impala.TTypeDesc([simple]), 1)
        return impala.TGetResultSetMetadataResp(status=self.done(), schema=impala.TTableSchema([column]))

    def answer_FetchResults(self, request: Any) -> Any:
        self.left -= 1
        values = impala.TColumn(i64Val=impala.TI64Column([1, 2, 3] if self.left else [], b""))
        rows = impala.TRowSet(0, [], [values])
        return impala.TFetchResultsResp(status=self.done(), hasMoreRows=self.left > 0, results=rows)

    def answer_GetLog(self, request: Any) -> Any:
        return impala.TGetLogResp(status=self.done(), log="")

    def answer_CloseOperation(self, request: Any) -> Any:
        return impala.TCloseOperationResp(status=self.done())

    def answer_CloseSession(self, request: Any) -> Any:
        return impala.TCloseSessionResp(status=self.done())

    def done(self) -> Any:
        return impala.TStatus(impala.TStatusCode.SUCCESS_STATUS)

    def exchange(self, message: bytes) -> bytes:
        from impala._thrift_gen.TCLIService.TCLIService import Processor
        from thrift.protocol.TBinaryProtocol import TBinaryProtocol
        from thrift.transport.TTransport import TMemoryBuffer

        answer = TMemoryBuffer()
        Processor(self).process(TBinaryProtocol(TMemoryBuffer(message)), TBinaryProtocol(answer))
        content: bytes = answer.getvalue()
        return content


@pytest.fixture
def server(platform: Platform) -> Server:
    made = Server()

    def answer(request: httpx.Request) -> httpx.Response:
        path = request.url.path
        if path.endswith("/thrift"):
            return httpx.Response(200, content=made.exchange(request.content))
        if path.endswith("/workspace"):
            return httpx.Response(200, json={"workspace_id": 3, "name": "demo"})
        job = {"job_id": 7, "job_status": "RUNNING"}
        return page([job]) if path.endswith("/jobs") else httpx.Response(200, json=job)

    platform.handler = answer
    return made


def test_a_statement_takes_the_way_of_all_requests(client: Client, platform: Platform, server: Server) -> None:
    found = client.workspace("demo").sql("select n", cluster="c")
    assert (found.rows, found.schema[0].type) == ([(1,), (2,), (3,)], "BIGINT")
    # The transport of impyla would send the token to a server whose certificate was not verified.
    assert len([request for request in platform.requests if request.url.path.endswith("/thrift")]) >= len(server.called)
    assert server.called[-1] == "CloseSession"


def test_the_asynchronous_twin_does_so_too(platform: Platform, server: Server) -> None:
    async def main() -> Table:
        async with AsyncClient(settings=Settings("https://spark.test", token="t"), http=httpx.MockTransport(answer)) as client:
            return await (await client.workspace("demo")).sql("select n", cluster="c")

    answer: Any = platform.handler
    assert asyncio.run(main()).rows == [(1,), (2,), (3,)]


def test_a_wrong_statement_fails_with_its_error(client: Client, server: Server) -> None:
    with pytest.raises(SqlFailed, match="No such column"):
        client.workspace("demo").sql("wrong", cluster="c")
    assert server.called[-1] == "CloseSession"


def test_a_statement_that_does_not_end_is_ended(client: Client, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_waiting, "MIN_PAUSE_SECONDS", 0.01)
    with pytest.raises(DeadlineExceeded, match="The statement took longer than 0.3 s"):
        client.workspace("demo").sql("endless", cluster="c", timeout=0.3)
    assert server.called[-2:] == ["CloseOperation", "CloseSession"]


@pytest.mark.parametrize("answer", [b"", b"<html>", b"\x80\x01\x00\x02\x7f\xff\xff\xff"])
def test_an_answer_of_another_server_is_an_error(
    client: Client, server: Server, monkeypatch: pytest.MonkeyPatch, answer: bytes
) -> None:
    monkeypatch.setattr(server, "exchange", lambda message: answer)
    with pytest.raises((SqlFailed, Unreachable)):
        client.workspace("demo").sql("select n", cluster="c")
