"""Operations of the API, and the conversion of their answers."""

from __future__ import annotations

import re
from typing import Any, Dict, Generic, Optional, TypeVar

T = TypeVar("T")

#: An integer of at most 64 bits; the platform sends no larger ones.
INTEGER = re.compile(r"-?[0-9]{1,19}")


class Operation(Generic[T]):
    """An operation of openapi.json that answers a T."""

    def __init__(self, name: str, method: str, path: str, shape: Optional[str]) -> None:
        self.name = name
        self.method = method
        self.path = path
        self.shape = shape

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}: {self.method} {self.path}>"


class PagedOperation(Operation[T]):
    """An operation that answers pages of T."""


def convert(value: Any, shape: Optional[str], shapes: Dict[str, Dict[str, str]]) -> Any:
    """Converts ids to numbers, which some answers send as strings, and `infinity`, the end of what has not ended, to None.
    """
    if shape is None or value is None:
        return value
    if shape == "int":
        return int(value) if isinstance(value, str) and INTEGER.fullmatch(value) else value
    if shape == "open":
        return None if value == "infinity" else value
    if shape.startswith("["):
        return [convert(item, shape[1:-1], shapes) for item in value] if isinstance(value, list) else value
    if not isinstance(value, dict):
        return value
    if shape.startswith("{"):
        return {key: convert(item, shape[1:-1], shapes) for key, item in value.items()}
    fields = shapes.get(shape, {})
    return {key: convert(item, fields.get(key), shapes) for key, item in value.items()}
