"""The progress of a wait, in the last line of a terminal."""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from types import TracebackType
from typing import Optional, TextIO, Type

from .._text import on_one_line
from .output import write_output

TICK_SECONDS = 0.2


class Progress:
    """A line such as `Job 17: RUNNING, 12 s`, which a thread redraws. It is shown only if standard error is a terminal."""

    def __init__(self, what: str) -> None:
        self.is_shown = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._what = on_one_line(what)
        self._status = ""
        self._begun = time.monotonic()
        self._ended = threading.Event()
        # Output and progress share the terminal, so one must not write into the middle of the other.
        self._drawing = threading.Lock()
        self._thread = threading.Thread(target=self._tick, daemon=True)

    def set(self, status: str) -> None:
        self._status = on_one_line(status)

    def print(self, line: str, to: Optional[TextIO] = None) -> None:
        """Writes a line above the progress, to standard output by default."""
        with self._drawing:
            self._erase()
            write_output(line, to)

    def __enter__(self) -> Progress:
        if self.is_shown:
            self._thread.start()
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self._ended.set()
        if self.is_shown:
            self._thread.join()
            self._erase()

    def _tick(self) -> None:
        while not self._ended.wait(TICK_SECONDS):
            with self._drawing:
                text = ", ".join(filter(None, [self._status, f"{time.monotonic() - self._begun:.0f} s"]))
                # A line that wraps could not be erased.
                width = max(1, shutil.get_terminal_size().columns - 1)
                self._write(f"\r{f'{self._what}: {text}'[:width]}\x1b[K")

    def _erase(self) -> None:
        if self.is_shown:
            self._write("\r\x1b[K")

    def _write(self, text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()
