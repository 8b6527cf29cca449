"""Rows of a query."""

from __future__ import annotations

from typing import Any, Iterator, List, NamedTuple, Sequence, Tuple

from ._text import printable
from .errors import UsageError


class Column(NamedTuple):
    """A column of a result, with its type as HiveServer2 calls it, such as `BIGINT`."""

    name: str
    type: str = "STRING"
    precision: int = 38
    scale: int = 0


class Table:
    """The rows of a query, as tuples. Arrays, maps and structs are strings, as Spark writes them for SQL clients."""

    def __init__(self, schema: Sequence[Column], rows: List[Tuple[Any, ...]], is_truncated: bool) -> None:
        self.schema = list(schema)
        self.rows = rows
        #: True if the query has more rows than `max_rows`.
        self.is_truncated = is_truncated

    @property
    def columns(self) -> List[str]:
        return [column.name for column in self.schema]

    def __iter__(self) -> Iterator[Tuple[Any, ...]]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"<Table of {len(self.rows)} rows: {printable(', '.join(self.columns))}>"

    def to_dicts(self) -> List[dict[str, Any]]:
        duplicates = sorted({name for name in self.columns if self.columns.count(name) > 1})
        if duplicates:
            raise UsageError(
                f"A dictionary cannot hold several columns named {duplicates[0]}. Rename them in the statement with `as`."
            )
        return [dict(zip(self.columns, row)) for row in self.rows]

    def to_pandas(self) -> Any:
        """Returns a DataFrame; needs `pip install managed-spark[pandas]`."""
        try:
            import pandas
        except ModuleNotFoundError:
            raise UsageError("A DataFrame needs pandas: pip install 'managed-spark[pandas]'") from None
        return pandas.DataFrame(self.rows, columns=self.columns)

    def to_arrow(self) -> Any:
        """Returns a pyarrow.Table, whose types are those of the query; needs `pip install managed-spark[arrow]`."""
        try:
            import pyarrow
        except ModuleNotFoundError:
            raise UsageError("An Arrow table needs pyarrow: pip install 'managed-spark[arrow]'") from None
        values = list(zip(*self.rows)) if self.rows else [()] * len(self.schema)
        arrays = [
            pyarrow.array(given, type=_arrow_type(pyarrow, column)) for column, given in zip(self.schema, values)
        ]
        return pyarrow.Table.from_arrays(arrays, names=self.columns)


def _arrow_type(pyarrow: Any, column: Column) -> Any:
    if column.type == "DECIMAL":
        return pyarrow.decimal128(column.precision, column.scale)
    known = {
        "BOOLEAN": pyarrow.bool_(),
        "TINYINT": pyarrow.int8(),
        "SMALLINT": pyarrow.int16(),
        "INT": pyarrow.int32(),
        "BIGINT": pyarrow.int64(),
        "FLOAT": pyarrow.float32(),
        "DOUBLE": pyarrow.float64(),
        "DATE": pyarrow.date32(),
        "TIMESTAMP": pyarrow.timestamp("us"),
        "BINARY": pyarrow.binary(),
        "NULL": pyarrow.null(),
    }
    return known.get(column.type, pyarrow.string())
