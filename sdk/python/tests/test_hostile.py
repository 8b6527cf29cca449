"""Hostile servers, users and kernels."""

from __future__ import annotations

import gzip
import json
import logging
import os
import sys
from pathlib import Path
from typing import Any, Iterator, List

import httpx
import pytest
from conftest import Platform, page, refused
from test_cli import CLUSTER, WORKSPACE, Terminal, msp

from managed_spark import Client, ConfigurationError, RunFailed, Settings, Unauthenticated, Unreachable, operations
from managed_spark._cells import MAX_DISPLAYED_LENGTH, MAX_TEXT_LENGTH, Cell
from managed_spark._sync import client as module
from managed_spark._table import Column, Table
from managed_spark.cli import completion

assert msp

#: Clears the screen, sets the title of the terminal, makes it type an answer, and colors text.
COMMANDS = "a\x1b[2Jb\x1b]0;title\x07c\x9b5nd\x1b[31mred\x1b[0m\r\x08\u202eend"


def answered(body: Any) -> httpx.Response:
    return httpx.Response(200, json=body)


def control_characters(text: str) -> List[str]:
    return [letter for letter in text if letter not in "\n\t" and not letter.isprintable()]


@pytest.mark.parametrize("arguments", [("logs", "7", "-w", "3"), ("logs", "7", "-w", "3", "-f")])
@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_log_cannot_command_the_terminal(
    msp: Any, platform: Platform, monkeypatch: pytest.MonkeyPatch, arguments: List[str], is_terminal: bool
) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        if "/log/" in request.url.path:
            return httpx.Response(200, content=f"{COMMANDS}\n".encode())
        return answered(WORKSPACE if request.url.path.endswith("/workspace") else {"job_id": 7, "job_status": "DONE"})

    platform.handler = answer
    terminal = Terminal()
    monkeypatch.setattr(terminal, "isatty", lambda: is_terminal)
    monkeypatch.setattr(sys, "stdout", terminal)
    msp(*arguments)
    printed = terminal.getvalue()
    if is_terminal:
        assert printed == "ab ]0;title cdred   end\n"
    else:
        # A file or a program gets the output of the job unchanged.
        assert printed == f"{COMMANDS}\n"


def test_errors_and_names_cannot_command_the_terminal(client: Client, platform: Platform) -> None:
    failure = RunFailed(7, "ERROR", None, COMMANDS, "https://x")
    assert control_characters(str(failure)) == [] and failure.reason == COMMANDS
    platform.answers = [page([{**CLUSTER, "name": COMMANDS}]), answered({**WORKSPACE, "name": COMMANDS})]
    shown = [next(client.clusters.list()), client.workspace("demo"), Table([Column(COMMANDS)], [], False)]
    assert [control_characters(repr(one)) for one in shown] == [[], [], []]


def test_a_name_that_a_shell_would_evaluate_is_not_completed(msp: Any, platform: Platform) -> None:
    names = ["demo", "d;touch x", "d`id`", "d\\$(id)", 'd"', "d*", "d e", "-d", "d\n"]
    platform.answers = [page([{**CLUSTER, "name": name} for name in names])]
    assert completion.clusters("") == ["demo"]


def test_a_shell_does_not_wait_for_pages_without_end(msp: Any, platform: Platform, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(completion, "TIMEOUT_SECONDS", 0.2)
    numbers = iter(range(2, 1 << 30))
    platform.handler = lambda request: page([{**CLUSTER, "name": "x"}], following=next(numbers))
    assert completion.clusters("d") == []


def test_json_has_no_numbers_that_json_does_not_know(msp: Any, platform: Platform, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    found = Table([Column("n")], [(float("nan"),), (float("inf"),), (float("-inf"),), (1.5,)], False)
    monkeypatch.setattr("managed_spark._sync.workspaces.Workspace.sql", lambda *given, **settings: found)
    platform.answers = [answered(WORKSPACE)]
    assert msp("sql", "select n", "-w", "3", "-c", "2", "--json") == 0
    assert [row["n"] for row in json.loads(capsys.readouterr().out)] == ["NaN", "Infinity", "-Infinity", 1.5]


@pytest.mark.parametrize("token", ["secret-1\n", "secret-1\r\nX: y", "secret 1", "sécret-1", "secret-1\x00"])
def test_a_token_that_no_header_holds_is_not_shown(token: str) -> None:
    with pytest.raises(ConfigurationError, match="The token of the environment is invalid") as raised:
        Settings("https://spark.test", token=token, source="the environment")
    assert "cret" not in str(raised.value)


def test_a_token_of_a_server_cannot_write_other_profiles(msp: Any, platform: Platform, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "profiles.ini"
    monkeypatch.setenv("MSP_CONFIG_FILE", str(file))
    monkeypatch.setenv("MSP_PASSWORD", "p")
    platform.answers = [answered({"token": "t"}), answered({"token": "t\r[default]\rurl = https://evil.test\rtoken = x"})]
    assert msp("login", "--url", "https://spark.test", "--username", "ada", "--profile", "other") == 5
    assert not file.exists()


def test_a_key_that_no_header_holds_is_refused(client: Client, platform: Platform) -> None:
    with pytest.raises(ConfigurationError, match="An Idempotency-Key can have only"):
        client._transport.call(operations.start_cluster, body={}, idempotency_key="a\r\nX: y")
    assert platform.requests == []


def test_what_is_for_this_machine_takes_no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://proxy.test:3128")
    made = module.Transport(Settings("http://127.0.0.1:1", token="t"))

    def way(url: str) -> str:
        return type(getattr(made._http._transport_for_url(httpx.URL(url)), "_pool")).__name__

    here = [way(f"http://{host}:8080/x") for host in ("127.0.0.1", "localhost", "[::1]")]
    assert (here, way("http://spark.test")) == (["ConnectionPool"] * 3, "HTTPProxy")


@pytest.mark.parametrize("following", [1, 0, -1, "2", 1.5])
def test_pages_that_lead_back_end(client: Client, platform: Platform, following: Any) -> None:
    platform.handler = lambda request: page([CLUSTER], following=following)
    found = client.clusters.list()
    assert [cluster.id for cluster, _ in zip(found, range(5))] == [2]


@pytest.mark.parametrize(("backward", "offsets"), [(False, [10, 10]), (False, [10, 3]), (True, [10, 10]), (True, [10, 30])])
def test_a_search_that_leads_back_ends(client: Client, platform: Platform, backward: bool, offsets: List[int]) -> None:
    answers = iter([*offsets, None])
    platform.handler = lambda request: answered({"matches": [], "next_offset": next(answers)})
    assert list(client.run(3, 7).search_log("x", backward=backward)) == []
    assert len(platform.requests) == 2


def test_a_login_that_does_not_help_ends(platform: Platform) -> None:
    platform.handler = lambda request: answered({"token": "t"}) if request.url.path.endswith("/login") else refused(401, "AUTH.ENDED")
    settings = Settings("https://spark.test", username="ada", password="p", tenant="acme")
    with Client(settings=settings, http=platform) as client, pytest.raises(Unauthenticated):
        client.user()
    assert len(platform.requests) < 10


@pytest.mark.parametrize("told", ["²", "9" * 400, "-5", "Fri, 31 Dec 9999 23:59:59 GMT", "nan", "1e9"])
def test_a_strange_retry_after_is_a_refusal_in_the_end(client: Client, platform: Platform, pauses: List[float], told: str) -> None:
    client._transport.retry_seconds = 0
    platform.handler = lambda request: refused(503, "X.Y", headers={"Retry-After": told.encode("latin-1")})
    with pytest.raises(Exception, match="X.Y"):
        client.user()
    assert all(0 <= pause <= 60 for pause in pauses)


@pytest.mark.parametrize(
    "content", [b"<html>", b"[" * 100_000, b'{"user_id": ' + b"9" * 5_000 + b"}", b"\xff\xfe", b'{"data": 1}', b"[]", b'{"data": [1'],
)
def test_an_answer_that_nobody_can_read_is_an_error_of_the_client(client: Client, platform: Platform, content: bytes) -> None:
    platform.handler = lambda request: httpx.Response(200, content=content, headers={"Content-Type": "text/html"})
    with pytest.raises(Unreachable, match=r"The answer to listClusters is not from the platform \(text/html\)"):
        list(client.clusters.list())
    platform.handler = lambda request: httpx.Response(403, content=content)
    with pytest.raises(Exception, match="The platform answered 403 Forbidden"):
        client.user()


@pytest.mark.parametrize("identity", ["9" * 5_000, "1e5", "x", 1.5, None, {"a": 1}])
def test_ids_of_another_form_stay_as_they_are(client: Client, platform: Platform, identity: Any) -> None:
    platform.answers = [answered({"job_id": identity})]
    assert client.call(operations.create_job, {"workspace_id": 3}, body={})["job_id"] == identity


class Endless(httpx.SyncByteStream):
    """A body that does not end."""

    def __init__(self, piece: bytes) -> None:
        self.piece = piece
        self.given = 0

    def __iter__(self) -> Iterator[bytes]:
        while self.given < 40:
            self.given += 1
            yield self.piece


@pytest.mark.parametrize("status", [200, 500])
def test_a_body_without_end_is_not_read(client: Client, platform: Platform, status: int) -> None:
    client._transport.answer_bytes = 4 << 20
    client._transport.retry_seconds = 0
    packed = {"Content-Encoding": "gzip"}
    bomb = Endless(gzip.compress(b"x" * (8 << 20), 1))
    tail = Endless(gzip.compress(b"x"))
    for stream, headers, why in ((bomb, packed, "larger than"), (tail, packed, "data after its end"), (Endless(b"x" * (1 << 20)), {}, "larger than")):
        platform.answers = [httpx.Response(status, headers=headers, stream=stream)]
        with pytest.raises(Unreachable, match=why):
            client.user()
        assert stream.given < 10


def test_a_body_that_drips_is_given_up(client: Client, platform: Platform) -> None:
    client.set_timeout(0.05)
    body = Endless(b" ")
    body.given = -1_000_000
    platform.handler = lambda request: httpx.Response(200, stream=body)
    with pytest.raises(Unreachable, match="the body was not complete in time"):
        client.user()


def test_a_body_that_cannot_be_unpacked_is_no_answer(client: Client, platform: Platform) -> None:
    client._transport.retry_seconds = 0
    platform.handler = lambda request: httpx.Response(200, headers={"Content-Encoding": "gzip"}, stream=Endless(b"no gzip"))
    with pytest.raises(Unreachable, match="No answer from https://spark.test to getUserInfo"):
        client.user()


def test_a_redirect_is_refused(client: Client, platform: Platform) -> None:
    platform.answers = [httpx.Response(302, headers={"Location": "https://evil.test/"})]
    with pytest.raises(Exception, match="The platform answered 302"):
        client.user()
    assert [request.url.host for request in platform.requests] == ["spark.test"]


@pytest.mark.parametrize("value", ["", ".", ".."])
def test_a_path_cannot_name_the_folder_above(client: Client, value: str) -> None:
    with pytest.raises(ConfigurationError, match="getJobLog needs log_type"):
        client.call(operations.get_job_log, {"workspace_id": 1, "job_id": 2, "log_type": value})


@pytest.mark.skipif(os.name != "posix", reason="needs symbolic links")
def test_a_download_follows_no_link_and_leaves_files_of_others(client: Client, platform: Platform, tmp_path: Path) -> None:
    target, mine = tmp_path / "data.csv", tmp_path / "mine"
    mine.write_text("mine")
    (tmp_path / "data.csv.part").symlink_to(mine)
    platform.answers = [answered(WORKSPACE), httpx.Response(200, content=b"theirs")]
    files = client.workspace("demo").files
    files.download("data.csv", target)
    assert (target.read_bytes(), mine.read_text()) == (b"theirs", "mine")

    def broken() -> Iterator[bytes]:
        yield b"half"
        raise httpx.ReadError("reset")

    platform.answers = [httpx.Response(200, content=broken())]
    with pytest.raises(Unreachable, match="The download of data.csv was interrupted: reset"):
        files.download("data.csv", target)
    assert (target.read_bytes(), len(list(tmp_path.iterdir()))) == (b"theirs", 3)


@pytest.mark.parametrize("offset", ["x", "²", "9" * 5_000, ""])
def test_a_log_at_no_place_is_read_all_the_same(client: Client, platform: Platform, offset: str) -> None:
    headers = {"x-log-offset": offset.encode("latin-1")}
    log = httpx.Response(200, headers=headers, content=b"line\n")
    platform.answers = [log, answered({"job_id": 7, "job_status": "DONE"})]
    assert list(client.run(3, 7).follow()) == ["line"]


def message(kind: str, **content: Any) -> Any:
    return {"msg_type": kind, "parent_header": {"msg_id": "c"}, "content": content}


def test_a_cell_keeps_a_part_of_what_has_no_end() -> None:
    cell = Cell("c")
    for _ in range(20):
        cell.add(message("stream", text="x" * (1 << 20)))
        cell.add(message("display_data", data={"text/html": "x" * (8 << 20)}))
    assert (len(cell.text), len(cell.displays)) == (MAX_TEXT_LENGTH, MAX_DISPLAYED_LENGTH // (8 << 20))


@pytest.mark.parametrize(
    "sent",
    [
        {"parent_header": []},
        {"msg_type": "stream", "parent_header": {"msg_id": "c"}, "content": [1]},
        {"msg_type": "execute_result", "parent_header": {"msg_id": "c"}, "content": {"data": "x"}},
        {"msg_type": "display_data", "parent_header": {"msg_id": "c"}, "content": {"data": None}},
    ],
)
def test_a_kernel_can_send_anything(sent: Any) -> None:
    cell = Cell("c")
    assert not cell.add(sent)
    assert cell.add(message("execute_reply", status="error", traceback="x", ename=COMMANDS))
    with pytest.raises(Exception) as raised:
        cell.result()
    assert control_characters(str(raised.value)) == []


def test_tokens_and_passwords_are_in_no_log(platform: Platform, caplog: Any) -> None:
    caplog.set_level(logging.DEBUG)
    platform.answers = [answered({"token": "secret-t"}), httpx.ReadError("reset"), refused(503, "X.Y"), answered({})]
    settings = Settings("https://spark.test", username="ada", password="secret-p")
    with Client(settings=settings, http=platform) as client:
        client.user()
    assert "Retrying getUserInfo" in caplog.text
    assert "secret" not in caplog.text
