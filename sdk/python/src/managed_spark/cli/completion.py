"""Completion of names in the shell. They are requested from the platform with a short timeout, since a shell that hangs is
worse than no completion.
"""

from __future__ import annotations

import re
import time
from typing import Callable, Iterator, List

import httpx

from .._sync.client import Client
from ..errors import ManagedSparkError

TIMEOUT_SECONDS = 2.0
#: Maximum number of names that are offered.
MAX_COMPLETIONS = 100
#: Names of records. A shell evaluates completions, so any other text could run a command.
NAME = re.compile(r"[a-z0-9@_][a-z0-9.@_-]{0,63}")


def workspaces(incomplete: str) -> List[str]:
    return _offered(lambda client: (workspace.name for workspace in client.workspaces()), incomplete)


def clusters(incomplete: str) -> List[str]:
    return _offered(lambda client: (cluster.name for cluster in client.clusters.list()), incomplete)


def _offered(names: Callable[[Client], Iterator[str]], incomplete: str) -> List[str]:
    """Returns nothing if the request fails, since an error would be printed into the line that is being typed."""
    try:
        with Client() as client:
            client.set_timeout(TIMEOUT_SECONDS)
            return _matching(names(client), incomplete)
    except (ManagedSparkError, httpx.HTTPError, OSError):
        return []


def _matching(names: Iterator[str], incomplete: str) -> List[str]:
    found: List[str] = []
    give_up = time.monotonic() + TIMEOUT_SECONDS
    for name in names:
        if name.startswith(incomplete) and NAME.fullmatch(name):
            found.append(name)
        if len(found) == MAX_COMPLETIONS or time.monotonic() > give_up:
            break
    return found
