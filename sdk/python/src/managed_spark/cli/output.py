"""Tables for people, JSON for programs."""

from __future__ import annotations

import json
import sys
from typing import Any, List, Mapping, Sequence

#: A wider cell is cut in a table; JSON has all of it.
WIDEST = 80


def show(records: Sequence[Mapping[str, Any]], columns: Sequence[str], as_json: bool) -> None:
    if as_json:
        print(json.dumps(list(records), indent=2, default=str))
    else:
        table([[record.get(column) for column in columns] for record in records], columns)


def table(rows: Sequence[Sequence[Any]], columns: Sequence[str]) -> None:
    texts: List[List[str]] = [[column.upper() for column in columns]]
    texts += [[_text(cell) for cell in row] for row in rows]
    widths = [max(len(row[index]) for row in texts) for index in range(len(columns))]
    for row in texts:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


def note(text: str) -> None:
    """Tells a person what happens; output that a program reads stays clean."""
    print(printable(text), file=sys.stderr, flush=True)


def printable(text: str) -> str:
    """Names and reasons come from other users, and a terminal obeys control characters."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def _text(cell: Any) -> str:
    text = printable("-" if cell is None else str(cell))
    return text if len(text) <= WIDEST else text[: WIDEST - 1] + "…"
