"""Names that the shell completes. Each is asked from the platform, within a moment: a shell that waits is worse than none."""

from __future__ import annotations

import re
import time
from typing import Callable, Iterator, List

import httpx

from .._sync.client import Client
from ..errors import ManagedSparkError

ASKED_SECONDS = 2.0
#: The most names that are offered.
OFFERED = 100
#: Names of records. A shell evaluates what it completes, so that another text could be a command.
NAME = re.compile(r"[a-z0-9@_][a-z0-9.@_-]{0,63}")


def workspaces(incomplete: str) -> List[str]:
    return _offered(lambda client: (workspace.name for workspace in client.workspaces()), incomplete)


def clusters(incomplete: str) -> List[str]:
    return _offered(lambda client: (cluster.name for cluster in client.clusters.list()), incomplete)


def _offered(names: Callable[[Client], Iterator[str]], incomplete: str) -> List[str]:
    """Returns nothing if the platform cannot be asked, since an error would be printed into the line that is being typed."""
    try:
        with Client() as client:
            client.set_patience(ASKED_SECONDS)
            return _matching(names(client), incomplete)
    except (ManagedSparkError, httpx.HTTPError, OSError):
        return []


def _matching(names: Iterator[str], incomplete: str) -> List[str]:
    found: List[str] = []
    late = time.monotonic() + ASKED_SECONDS
    for name in names:
        if name.startswith(incomplete) and NAME.fullmatch(name):
            found.append(name)
        if len(found) == OFFERED or time.monotonic() > late:
            break
    return found
