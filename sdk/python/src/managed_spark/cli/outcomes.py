"""Exit codes of the command line, by outcome."""

from __future__ import annotations

from typing import List, Tuple, Type

from ..errors import (
    ApiError,
    CellFailed,
    ClusterFailed,
    ConfigurationError,
    DeadlineExceeded,
    Overloaded,
    RunFailed,
    Unauthenticated,
    Unreachable,
    UsageError,
)

FAILED = 1
INVALID_USAGE = 2
STOPPED = 3
REFUSED = 4
NOT_LOGGED_IN = 5
UNREACHABLE = 6
TIMEOUT = 124
INTERRUPTED = 130

# The first match counts, so subclasses come before their base classes.
CODES: List[Tuple[Type[Exception], int]] = [
    (Unauthenticated, NOT_LOGGED_IN),
    (UsageError, INVALID_USAGE),
    (FileNotFoundError, INVALID_USAGE),
    (ConfigurationError, NOT_LOGGED_IN),
    (Overloaded, UNREACHABLE),
    (Unreachable, UNREACHABLE),
    (DeadlineExceeded, TIMEOUT),
    (ApiError, REFUSED),
    (ClusterFailed, FAILED),
    (CellFailed, FAILED),
]


def exit_code(error: Exception) -> int:
    if isinstance(error, RunFailed):
        return STOPPED if error.status in ("STOPPED", "KILLED") else FAILED
    return next((code for kind, code in CODES if isinstance(error, kind)), FAILED)
