"""Text of others, such as names, logs and reasons, on its way to a terminal."""

from __future__ import annotations

import re

#: What colors text and moves the cursor, by ECMA-48.
SEQUENCE = re.compile(r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]")


def printable(text: str) -> str:
    """Returns lines that a terminal shows and does not obey: control characters could hide, rename or type something."""
    return "".join(letter if letter in "\n\t" or letter.isprintable() else " " for letter in SEQUENCE.sub("", text))


def on_one_line(text: str) -> str:
    """Returns text for a cell of a table or a message, in which everything that a terminal obeys is a blank."""
    return "".join(letter if letter.isprintable() else " " for letter in text)
