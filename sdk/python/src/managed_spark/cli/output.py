"""Tables for users, JSON for programs."""

from __future__ import annotations

import json
import logging
import math
import sys
import time
from typing import Any, List, Mapping, Optional, Sequence, TextIO

from .._text import on_one_line, printable

#: Wider cells of a table are truncated; JSON has the whole text.
MAX_CELL_WIDTH = 80


#: Minimum time between two messages about retries.
RETRY_MESSAGE_SECONDS = 15.0


class RetryMessages(logging.Handler):
    """Shows that requests are retried: otherwise a command prints nothing for a minute when the platform does not answer."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self._next = 0.0

    def emit(self, record: logging.LogRecord) -> None:
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + RETRY_MESSAGE_SECONDS
            note(f"msp: {record.getMessage()}")


def show(records: Sequence[Mapping[str, Any]], columns: Sequence[str], as_json: bool) -> None:
    if as_json:
        print(json.dumps(_finite(list(records)), indent=2, default=str, allow_nan=False))
    else:
        table([[record.get(column) for column in columns] for record in records], columns)


def show_line(record: Mapping[str, Any]) -> None:
    """Prints a record as one line of JSON, and at once: its reader waits for it."""
    print(json.dumps(_finite(dict(record)), default=str, allow_nan=False), flush=True)


def table(rows: Sequence[Sequence[Any]], columns: Sequence[str]) -> None:
    texts: List[List[str]] = [[column.upper() for column in columns]]
    texts += [[_text(cell) for cell in row] for row in rows]
    widths = [max(len(row[index]) for row in texts) for index in range(len(columns))]
    for row in texts:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


def note(text: str) -> None:
    """Prints to standard error, so that standard output has only results."""
    print(on_one_line(text), file=sys.stderr, flush=True)


def write_output(text: str, to: Optional[TextIO] = None, end: str = "\n") -> None:
    """Writes the output of a job or a cell: unchanged to a file or a pipe, without control characters to a terminal."""
    stream = to or sys.stdout
    print(printable(text) if stream.isatty() else text, file=stream, end=end, flush=True)


def _finite(value: Any) -> Any:
    """Replaces NaN and the infinities, which JSON cannot represent, with strings, as Spark does."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list) else value


def _text(cell: Any) -> str:
    text = on_one_line("-" if cell is None else str(cell))
    return text if len(text) <= MAX_CELL_WIDTH else text[: MAX_CELL_WIDTH - 1] + "…"
