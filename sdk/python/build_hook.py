"""The step of the build that makes the generated part of the package, so that it is never committed."""

import sys
from pathlib import Path
from typing import Any, Dict

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# Hatchling loads this file by its path, which does not make its folder importable.
sys.path.insert(0, str(Path(__file__).parent))

from generate import find_document, generate  # noqa: E402


class GeneratedPart(BuildHookInterface):  # type: ignore[type-arg]
    def initialize(self, version: str, build_data: Dict[str, Any]) -> None:
        root = Path(self.root)
        document = find_document(root)
        generate(root / "src" / "managed_spark", document)
        if self.target_name == "sdist" and document.parent != root:
            build_data["force_include"][str(document)] = "openapi.json"
