"""Deadlines and pauses."""

from __future__ import annotations

import random
import time
from typing import Callable, Optional

from .errors import DeadlineExceeded

MIN_PAUSE_SECONDS = 0.25
MAX_PAUSE_SECONDS = 5.0

#: Called with each status that a wait sees, to show progress.
OnStatus = Callable[[str], None]


class Deadline:
    """The end of a wait; the error of a missed one names `what`."""

    def __init__(self, timeout: float, what: str) -> None:
        self.timeout = timeout
        self.what = what
        self._end = time.monotonic() + timeout

    @property
    def left(self) -> float:
        return max(0.0, self._end - time.monotonic())

    def check(self) -> None:
        if self.left <= 0:
            raise DeadlineExceeded(f"{self.what} took longer than {self.timeout:g} s. It continues; wait again, or stop it.")


class Pauses:
    """Growing pauses between polls."""

    def __init__(self, deadline: Deadline, on_status: Optional[OnStatus] = None) -> None:
        self._deadline = deadline
        self._on_status = on_status
        self._next = MIN_PAUSE_SECONDS

    def next(self, status: str) -> float:
        """Returns how long to wait before the next poll, after one that returned this status."""
        self._deadline.check()
        if self._on_status is not None:
            self._on_status(status)
        pause, self._next = self._next, min(self._next * 1.3, MAX_PAUSE_SECONDS)
        return min(pause, self._deadline.left)


def backoff(attempt: int) -> float:
    """Returns a random pause before another attempt, so that clients that failed together do not retry together."""
    return random.uniform(0.1, 1.0) * min(0.5 * 2.0 ** min(attempt, 10), 10.0)
