"""Servers, users and kernels that mean harm."""

from __future__ import annotations

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

from managed_spark import Client, ConfigurationError, RunFailed, Settings, Unreachable, operations
from managed_spark._sync import client as module
from managed_spark._table import Column, Table
from managed_spark.cli import completion

assert msp

#: Clears the screen, gives the terminal a title, types a command into it, and colors it.
COMMANDS = "a\x1b[2Jb\x1b]0;title\x07c\x9b5nd\x1b[31mred\x1b[0m\r\x08\u202eend"


def answered(body: Any) -> httpx.Response:
    return httpx.Response(200, json=body)


def obeyed(text: str) -> List[str]:
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
        # A file or a program gets what the job wrote.
        assert printed == f"{COMMANDS}\n"


def test_errors_and_names_cannot_command_the_terminal(client: Client, platform: Platform) -> None:
    failure = RunFailed(7, "ERROR", None, COMMANDS, "https://x")
    assert obeyed(str(failure)) == [] and failure.reason == COMMANDS
    platform.answers = [page([{**CLUSTER, "name": COMMANDS}]), answered({**WORKSPACE, "name": COMMANDS})]
    shown = [next(client.clusters.list()), client.workspace("demo"), Table([Column(COMMANDS)], [], False)]
    assert [obeyed(repr(one)) for one in shown] == [[], [], []]


def test_a_name_that_a_shell_would_evaluate_is_not_completed(msp: Any, platform: Platform) -> None:
    names = ["demo", "d;touch x", "d`id`", "d\\$(id)", 'd"', "d*", "d e", "-d", "d\n"]
    platform.answers = [page([{**CLUSTER, "name": name} for name in names])]
    assert completion.clusters("") == ["demo"]


def test_a_shell_does_not_wait_for_pages_without_end(msp: Any, platform: Platform, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(completion, "ASKED_SECONDS", 0.2)
    numbers = iter(range(2, 1 << 30))
    platform.handler = lambda request: page([{**CLUSTER, "name": "x"}], following=next(numbers))
    assert completion.clusters("d") == []


@pytest.mark.parametrize("token", ["secret-1\n", "secret-1\r\nX: y", "secret 1", "sécret-1", "secret-1\x00"])
def test_a_token_that_no_header_holds_is_not_shown(token: str) -> None:
    with pytest.raises(ConfigurationError, match="The token of the environment is none") as raised:
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
    with pytest.raises(ConfigurationError, match="An Idempotency-Key can hold only"):
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


def test_a_redirect_is_refused(client: Client, platform: Platform) -> None:
    platform.answers = [httpx.Response(302, headers={"Location": "https://evil.test/"})]
    with pytest.raises(Exception, match="The platform answered 302"):
        client.user()
    assert [request.url.host for request in platform.requests] == ["spark.test"]


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
    with pytest.raises(Unreachable, match="The download of data.csv broke off: reset"):
        files.download("data.csv", target)
    assert (target.read_bytes(), len(list(tmp_path.iterdir()))) == (b"theirs", 3)


def test_tokens_and_passwords_are_in_no_log(platform: Platform, caplog: Any) -> None:
    caplog.set_level(logging.DEBUG)
    platform.answers = [answered({"token": "secret-t"}), httpx.ReadError("reset"), refused(503, "X.Y"), answered({})]
    settings = Settings("https://spark.test", username="ada", password="secret-p")
    with Client(settings=settings, http=platform) as client:
        client.user()
    assert "getUserInfo is sent again" in caplog.text
    assert "secret" not in caplog.text
