"""Makes the generated part of the package from openapi.json: types of all schemas, one constant for each operation, and the
blocking twins of the asynchronous classes. The build runs it; `python generate.py` does so for an editor.
"""

from __future__ import annotations

import json
import keyword
import re
import shutil
import sys
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

import unasync

Schema = Dict[str, Any]

HEADER = '"""Generated from openapi.json by generate.py. Do not edit."""\n\nfrom __future__ import annotations\n\n'

# Columns that hold the text `infinity` for "not ended yet", which no date type can read.
OPEN_ENDED = {"to_date", "end_time", "end_date", "expires_at"}

# Bodies of other protocols, which the transport of JSON cannot carry.
FOREIGN_BODIES = {"application/x-thrift"}

SCALARS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}

# Keyword arguments of methods: the fields of a body without those that the methods take by other names.
DERIVED = {
    "JobSettings": ("UpdateJobConf", {"name", "cluster_id", "cluster_name"}),
    "NotebookSettings": ("UpdateNotebookConf", {"notebook_name", "cluster_id", "cluster_name"}),
}

# Names of the asynchronous classes and helpers, and of their blocking twins.
TWINS = {
    "AsyncClient": "Client",
    "AsyncTransport": "Transport",
    "AsyncWorkspace": "Workspace",
    "AsyncRun": "Run",
    "AsyncFunction": "Function",
    "AsyncFiles": "Files",
    "AsyncSecrets": "Secrets",
    "AsyncJobs": "Jobs",
    "AsyncCluster": "Cluster",
    "AsyncClusters": "Clusters",
    "AsyncCatalogs": "Catalogs",
    "AsyncNotebook": "Notebook",
    "AsyncNotebooks": "Notebooks",
    "AsyncHttp": "Http",
    "AsyncBaseTransport": "BaseTransport",
    "AsyncSocket": "Socket",
    "async_connect": "connect",
    "async_receive": "receive",
    "async_sleep": "sleep",
    "async_blocking": "blocking",
    "async_bridge": "bridge",
    "aiter_raw": "iter_raw",
    "aclose": "close",
    "_async": "_sync",
}


def find_document(root: Path) -> Path:
    """A source distribution has its copy of the document beside this file, the repository has it at its root."""
    for candidate in (root / "openapi.json", root.parent.parent / "openapi.json"):
        if candidate.is_file():
            return candidate
    raise FileNotFoundError(f"There is no openapi.json in {root} or in the repository. Build from a clone or an sdist.")


def generate(package: Path, document: Path) -> None:
    described = json.loads(document.read_text(encoding="utf-8"))
    types, operations = sources(described)
    folder = package / "_generated"
    folder.mkdir(exist_ok=True)
    (folder / "__init__.py").write_text("")
    (folder / "types.py").write_text(types, encoding="utf-8")
    (folder / "operations.py").write_text(operations, encoding="utf-8")
    (folder / "remedies.py").write_text(remedies(described["components"]["schemas"]["ReasonCode"]), encoding="utf-8")
    shutil.rmtree(package / "_sync", ignore_errors=True)
    rule = unasync.Rule(fromdir="/_async/", todir="/_sync/", additional_replacements=TWINS)
    unasync.unasync_files([str(file) for file in sorted((package / "_async").glob("*.py"))], [rule])


def sources(document: Dict[str, Any]) -> Tuple[str, str]:
    """Returns the texts of types.py and operations.py."""
    generator = Generator(document)
    operations = generator.operations()
    return generator.types(), operations


def remedies(reasons: Schema) -> str:
    """Returns the text of remedies.py."""
    lines = "".join(f"    {code!r}: {text!r},\n" for code, text in reasons["x-enum-remedies"].items())
    return HEADER + f"from typing import Mapping\n\nREMEDIES: Mapping[str, str] = {{\n{lines}}}\n"


class Generator:
    def __init__(self, document: Dict[str, Any]) -> None:
        self.document = document
        self.schemas: Dict[str, Schema] = document["components"]["schemas"]
        self.classes: Dict[str, str] = {}
        # By class, the fields whose values are converted: to `int`, to None if `infinity`, or by the fields of another class.
        self.shapes: Dict[str, Dict[str, str]] = {}
        for name, schema in self.schemas.items():
            self.declare(name, schema)
        for name, (body, left_out) in DERIVED.items():
            properties = {key: value for key, value in self.schemas[body]["properties"].items() if key not in left_out}
            self.declare(name, {"type": "object", "properties": properties})

    def types(self) -> str:
        imports = "from typing import TYPE_CHECKING, Any, Dict, List, Literal, Optional, TypedDict, Union\n\n"
        imports += "if TYPE_CHECKING:\n    from typing_extensions import NotRequired\n"
        return HEADER + imports + "".join(f"\n\n{text}" for text in self.classes.values())

    def operations(self) -> str:
        lines = [self.operation(*found) for found in self.described()]
        shapes = self.useful_shapes()
        imports = "from typing import TYPE_CHECKING, Any, Dict, List\n\n"
        imports += "from .._operation import Operation, PagedOperation\n\n"
        imports += "if TYPE_CHECKING:\n    from . import types\n\n"
        table = "".join(f"    {name!r}: {fields!r},\n" for name, fields in sorted(shapes.items()))
        return HEADER + imports + f"SHAPES: Dict[str, Dict[str, str]] = {{\n{table}}}\n\n" + "".join(sorted(lines))

    def described(self) -> List[Tuple[str, str, Dict[str, Any]]]:
        servers = self.document.get("servers") or [{"url": "/"}]
        base = str(servers[0]["url"]).rstrip("/")
        found = []
        for path, methods in self.document["paths"].items():
            for method, operation in methods.items():
                if isinstance(operation, dict) and "operationId" in operation and not is_foreign(operation):
                    found.append((method.upper(), base + path, operation))
        return found

    def operation(self, method: str, path: str, operation: Dict[str, Any]) -> str:
        identity = operation["operationId"]
        kind, type_name, shape = "Operation", "None", None
        answer = self.answer_schema(operation)
        if answer is not None:
            item = self.item_of_page(answer)
            kind = "PagedOperation" if item is not None else "Operation"
            type_name, shape = self.reference(item or answer, pascal(identity) + "Answer")
        annotation = re.sub(r"\b([A-Z]\w*)\b", self.qualified, type_name)
        name = snake(identity)
        summary = json.dumps(str(operation.get("summary", "")), ensure_ascii=False)
        return (
            f"{name}: {kind}[{annotation}] = {kind}({identity!r}, {method!r}, {path!r}, {shape!r})\n{summary}\n"
        )

    def qualified(self, found: "re.Match[str]") -> str:
        name = found.group(1)
        return f"types.{name}" if name in self.classes else name

    def answer_schema(self, operation: Dict[str, Any]) -> Optional[Schema]:
        """The schema of the JSON answer; None if it answers without content, or with text or bytes."""
        for status, response in operation["responses"].items():
            if status.startswith("2"):
                content = self.resolved(response).get("content", {})
                if "application/json" in content:
                    schema: Schema = content["application/json"]["schema"]
                    return schema
        return None

    def item_of_page(self, schema: Schema) -> Optional[Schema]:
        properties = self.resolved(schema).get("properties", {})
        if set(properties) != {"data", "result_set"}:
            return None
        items: Optional[Schema] = properties["data"].get("items")
        return items

    def resolved(self, value: Dict[str, Any]) -> Dict[str, Any]:
        while "$ref" in value:
            target: Any = self.document
            for part in value["$ref"].lstrip("#/").split("/"):
                target = target[part]
            value = target
        return value

    def declare(self, name: str, schema: Schema) -> None:
        """Declares a class for an object, and an alias for everything else."""
        if name in self.classes:
            return
        self.classes[name] = ""
        about = quoted(schema.get("description"))
        if schema.get("type") != "object" or "properties" not in schema:
            self.classes[name] = f"{name} = {self.runtime_type(schema, name)}\n"
            return
        required = set(schema.get("required", ()))
        fields = []
        shape: Dict[str, str] = {}
        for key, value in schema["properties"].items():
            type_name, conversion = self.reference(value, name + pascal(key), key)
            fields.append((key, type_name if key in required else f"NotRequired[{type_name}]", value.get("description")))
            if conversion:
                shape[key] = conversion
        self.shapes[name] = shape
        if all(key.isidentifier() and not keyword.iskeyword(key) for key, _, _ in fields):
            body = "".join(f"    {key}: {kind}\n{quoted(text, 4)}" for key, kind, text in fields) or "    pass\n"
            self.classes[name] = f"class {name}(TypedDict):\n{quoted(schema.get('description'), 4)}{body}"
        else:
            body = "".join(f"    {key!r}: {kind!r},\n" for key, kind, _ in fields)
            self.classes[name] = f"{name} = TypedDict({name!r}, {{\n{body}}})\n{about}"

    def runtime_type(self, schema: Schema, name: str) -> str:
        """An alias is evaluated when the module is loaded, so names of classes in it are quoted."""
        text, _ = self.reference(schema, name + "Value")
        return re.sub(r"\b([A-Z]\w*)\b", lambda found: f'"{found.group(1)}"' if found.group(1) in self.classes else found.group(1), text)

    def reference(self, schema: Schema, inline_name: str, key: str = "") -> Tuple[str, Optional[str]]:
        """Returns the type of a value, and how it is converted: `int`, `open`, a class, or a class in `[]` or `{}`."""
        if "$ref" in schema:
            name = schema["$ref"].rsplit("/", 1)[1]
            return name, name
        for union in ("anyOf", "oneOf", "allOf"):
            if union in schema:
                return self.union(schema[union], inline_name, key)
        if "enum" in schema:
            values = ", ".join(repr(value) for value in schema["enum"])
            return f"Literal[{values}]", None
        kinds = schema.get("type")
        kinds = kinds if isinstance(kinds, list) else [kinds]
        parts = [self.single({**schema, "type": kind}, inline_name, key) for kind in kinds]
        return joined([text for text, _ in parts]), next((conversion for _, conversion in parts if conversion), None)

    def union(self, members: List[Schema], inline_name: str, key: str) -> Tuple[str, Optional[str]]:
        parts = [self.reference(member, f"{inline_name}{index or ''}", key) for index, member in enumerate(members)]
        return joined([text for text, _ in parts]), next((conversion for _, conversion in parts if conversion), None)

    def single(self, schema: Schema, inline_name: str, key: str) -> Tuple[str, Optional[str]]:
        kind = schema["type"]
        if kind == "array":
            text, conversion = self.reference(schema.get("items", {}), inline_name, key)
            return f"List[{text}]", conversion and f"[{conversion}]"
        if kind == "object" and "properties" in schema:
            self.declare(inline_name, schema)
            return inline_name, inline_name
        if kind == "object":
            values = schema.get("additionalProperties")
            text, conversion = self.reference(values, inline_name) if isinstance(values, dict) else ("Any", None)
            return f"Dict[str, {text}]", conversion and f"{{{conversion}}}"
        if kind == "string" and schema.get("format") == "int64":
            return "int", "int"
        if kind == "string" and key in OPEN_ENDED:
            return "Optional[str]", "open"
        return SCALARS.get(str(kind), "Any"), None

    def useful_shapes(self) -> Dict[str, Dict[str, str]]:
        """The shapes without fields that lead to no conversion."""
        shapes = {name: dict(fields) for name, fields in self.shapes.items()}
        changed = True
        while changed:
            changed = False
            for fields in shapes.values():
                for key, conversion in list(fields.items()):
                    target = conversion.strip("[]{}")
                    if target not in ("int", "open") and not shapes.get(target):
                        del fields[key]
                        changed = True
        return {name: fields for name, fields in shapes.items() if fields}


def is_foreign(operation: Dict[str, Any]) -> bool:
    """True for sockets, which have no answer, and for bodies of other protocols."""
    bodies = set(operation.get("requestBody", {}).get("content", {}))
    succeeds = any(status.startswith("2") for status in operation["responses"])
    return bool(operation.get("x-internal")) or bool(bodies & FOREIGN_BODIES) or not succeeds


def joined(texts: List[str]) -> str:
    parts = list(dict.fromkeys(texts))
    if "Any" in parts:
        return "Any"
    if "None" in parts:
        rest = [text for text in parts if text != "None"]
        if not rest:
            return "None"
        inner = joined(rest)
        return inner if inner.startswith("Optional[") else f"Optional[{inner}]"
    return parts[0] if len(parts) == 1 else f"Union[{', '.join(parts)}]"


def quoted(text: Optional[str], indent: int = 0) -> str:
    return f"{' ' * indent}{json.dumps(text, ensure_ascii=False)}\n" if text else ""


def pascal(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in re.split(r"[^A-Za-z0-9]+", name))


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


if __name__ == "__main__":
    here = Path(__file__).resolve().parent
    generate(here / "src" / "managed_spark", find_document(here))
    sys.exit(0)
