"""Rows of a query."""

from __future__ import annotations

from typing import Any, Iterator, List, Sequence, Tuple


class Table:
    """The rows of a query, as tuples."""

    def __init__(self, columns: Sequence[str], rows: List[Tuple[Any, ...]], is_truncated: bool) -> None:
        self.columns = list(columns)
        self.rows = rows
        #: True if the query has more rows than were asked for.
        self.is_truncated = is_truncated

    def __iter__(self) -> Iterator[Tuple[Any, ...]]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"<Table of {len(self.rows)} rows: {', '.join(self.columns)}>"

    def to_dicts(self) -> List[dict[str, Any]]:
        return [dict(zip(self.columns, row)) for row in self.rows]

    def to_pandas(self) -> Any:
        """Returns a DataFrame; needs `pip install managed-spark[pandas]`."""
        import pandas

        return pandas.DataFrame(self.rows, columns=self.columns)
