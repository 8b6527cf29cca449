"""What ties the code to openapi.json; mypy checks the fields that the code reads."""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path

import pytest

from managed_spark import _operation, operations
from managed_spark._generated.remedies import REMEDIES

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
from generate import find_document, is_foreign, snake, sources  # noqa: E402

DOCUMENT = json.loads(find_document(ROOT).read_text(encoding="utf-8"))


def test_every_operation_but_sockets_and_foreign_bodies_is_there() -> None:
    described = [one for methods in DOCUMENT["paths"].values() for one in methods.values() if not is_foreign(one)]
    made = [one for one in vars(operations).values() if isinstance(one, _operation.Operation)]
    assert len(made) == len(described) > 300
    assert all(hasattr(operations, snake(one["operationId"])) for one in described)


def test_remedies_are_those_of_the_platform() -> None:
    assert len(REMEDIES) > 20
    assert REMEDIES == DOCUMENT["components"]["schemas"]["ReasonCode"]["x-enum-remedies"]


def test_a_schema_becomes_types_and_conversions() -> None:
    ref = {"$ref": "#/components/schemas/Node"}
    page = {"properties": {"data": {"type": "array", "items": ref}, "result_set": {}}, "type": "object"}
    answer = {"content": {"application/json": {"schema": page}}}
    node = {
        "type": "object",
        "required": ["node_id", "kind"],
        "properties": {
            "node_id": {"type": "string", "format": "int64"},
            "kind": {"enum": ["A", None], "type": ["string", "null"]},
            "children": {"type": "array", "items": {"anyOf": [ref, {"type": "null"}]}},
            "py-files": {"type": "string"},
        },
    }
    derived = {name: {"type": "object", "properties": {}} for name in ("UpdateJobConf", "UpdateNotebookConf")}
    document = {
        "servers": [{"url": "/api/v1"}],
        "paths": {"/nodes": {"get": {"operationId": "listSQLNodes", "summary": "List", "responses": {"200": answer}}}},
        "components": {"schemas": {"Node": node, **derived}},
    }
    types, made = sources(document)
    assert "list_sql_nodes: PagedOperation[types.Node] = PagedOperation('listSQLNodes', 'GET', '/api/v1/nodes', 'Node')" in made
    assert "'Node': {'node_id': 'int', 'children': '[Node]'}" in made
    assert "'children': 'NotRequired[List[Optional[Node]]]'" in types and "'kind': \"Literal['A', None]\"" in types


@pytest.mark.parametrize("file", sorted((ROOT / "src").rglob("*.py")), ids=lambda file: file.name)
def test_python_3_9_can_read_it(file: Path) -> None:
    ast.parse(file.read_text(encoding="utf-8"), feature_version=(3, 9))
