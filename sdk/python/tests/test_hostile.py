"""Servers, users and kernels that mean harm."""

from __future__ import annotations

import json
import sys
from typing import Any, List

import httpx
import pytest
from conftest import Platform, page
from test_cli import CLUSTER, WORKSPACE, Terminal, msp

from managed_spark import Client, RunFailed
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
