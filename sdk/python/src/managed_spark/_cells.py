"""Cells of a notebook, and what they printed and returned."""

from __future__ import annotations

import json
from typing import Any, Dict, List, NamedTuple, Optional

from .errors import CellFailed, UsageError

#: Limits of the text, of the number of displayed results and of their text that are kept of a cell.
MAX_TEXT_LENGTH = 16 << 20
MAX_DISPLAYS = 1000
MAX_DISPLAYED_LENGTH = 64 << 20


class CodeCell(NamedTuple):
    """A cell of a notebook file that a kernel can execute."""

    id: str
    code: str


def read_notebook(content: bytes) -> Dict[str, Any]:
    """Returns the content of an .ipynb file."""
    try:
        notebook = json.loads(content)
    except (ValueError, RecursionError):
        notebook = None
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        raise UsageError("The file is not a notebook: it must be a JSON object with a list of cells.")
    return notebook


def code_cells(content: bytes) -> List[CodeCell]:
    """Returns the code cells of an .ipynb file from the platform, where each has an id, without blank ones."""
    found = []
    for cell in read_notebook(content)["cells"]:
        source = cell.get("source", "")
        code = "".join(source) if isinstance(source, list) else str(source)
        if cell.get("cell_type") == "code" and code.strip():
            found.append(CodeCell(str(cell["id"]), code))
    return found


def language_of(content: bytes) -> str:
    """Returns the language that an .ipynb file names, as the platform calls it; Python if it names none."""
    metadata = read_notebook(content).get("metadata")
    spec = metadata.get("kernelspec") if isinstance(metadata, dict) else None
    named = str(spec.get("language") or spec.get("name") or "").lower() if isinstance(spec, dict) else ""
    return next((language for language in ("scala", "sql") if language in named), "python3")


def _record(value: Any) -> Dict[str, Any]:
    """Returns an empty dict for anything else, since code in a kernel can send any JSON."""
    return value if isinstance(value, dict) else {}


class Cell:
    def __init__(self, identity: str) -> None:
        self.id = identity
        #: What the cell printed.
        self.text = ""
        #: The value of its last line, by MIME type; None without one.
        self.data: Optional[Dict[str, Any]] = None
        #: What it displayed, by MIME type.
        self.displays: List[Dict[str, Any]] = []
        self._failure: Optional[CellFailed] = None
        self._displayed = 0

    @property
    def value(self) -> Optional[str]:
        """The value of the last line as text."""
        return None if self.data is None else str(self.data.get("text/plain", ""))

    def add(self, message: Dict[str, Any]) -> bool:
        """Adds a message of the kernel; returns True if it is the reply, which is the last message of this cell."""
        if _record(message.get("parent_header")).get("msg_id") != self.id:
            return False
        kind, content = message.get("msg_type"), _record(message.get("content"))
        if kind == "stream":
            self._print(str(content.get("text", "")))
        elif kind == "execute_result":
            self.data = _record(content.get("data"))
        elif kind == "display_data":
            self._display(_record(content.get("data")))
        elif kind == "execute_reply":
            if content.get("status") != "ok":
                lines = content.get("traceback")
                traceback = [str(line) for line in lines] if isinstance(lines, list) else []
                self._failure = CellFailed(
                    str(content.get("ename", "Error")), str(content.get("evalue", content.get("status"))), traceback
                )
            return True
        return False

    def _print(self, text: str) -> None:
        # Text at its limit is not copied again for each of many further lines.
        if len(self.text) < MAX_TEXT_LENGTH:
            self.text = (self.text + text)[:MAX_TEXT_LENGTH]

    def _display(self, data: Dict[str, Any]) -> None:
        size = sum(len(str(value)) for value in data.values())
        if len(self.displays) < MAX_DISPLAYS and self._displayed + size <= MAX_DISPLAYED_LENGTH:
            self.displays.append(data)
            self._displayed += size

    def result(self) -> Cell:
        if self._failure is not None:
            raise self._failure
        return self
