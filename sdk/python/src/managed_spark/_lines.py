"""Lines of a log that arrives in pieces."""

from __future__ import annotations

from typing import Iterator

#: A longer line is yielded in parts, so that a job that never ends its line cannot fill the memory.
MAX_LINE_BYTES = 1 << 20


class Lines:
    def __init__(self) -> None:
        self._rest = b""

    def feed(self, piece: bytes) -> Iterator[str]:
        *whole, self._rest = (self._rest + piece).split(b"\n")
        for line in whole:
            yield _text(line)
        while len(self._rest) > MAX_LINE_BYTES:
            part, self._rest = self._rest[:MAX_LINE_BYTES], self._rest[MAX_LINE_BYTES:]
            yield _text(part)

    def end(self) -> Iterator[str]:
        rest, self._rest = self._rest, b""
        if rest:
            yield _text(rest)


def _text(line: bytes) -> str:
    return line.decode("utf-8", errors="replace").rstrip("\r")
