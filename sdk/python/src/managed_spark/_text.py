"""Makes text of other users, such as names, logs and reasons, safe for a terminal."""

from __future__ import annotations

import re

#: Control sequences of ECMA-48, which color text and move the cursor.
CONTROL_SEQUENCE = re.compile(r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]")


def printable(text: str) -> str:
    """Removes control sequences and replaces other control characters, with which text could hide output, rename the terminal
    or type commands. Keeps line breaks and tabs.
    """
    plain = CONTROL_SEQUENCE.sub("", text)
    return "".join(letter if letter in "\n\t" or letter.isprintable() else " " for letter in plain)


def on_one_line(text: str) -> str:
    """Replaces all control characters, including line breaks and tabs, with spaces."""
    return "".join(letter if letter.isprintable() else " " for letter in text)
