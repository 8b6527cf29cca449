"""Compiles PySpark and Py4J where Spark's processes import them from: archives in its folder.

Python keeps no compiled code of what it imports from an archive, so each driver and each worker of an executor would
compile some 70 modules, which takes about half a second. A Python of another version goes on with the sources, which
stay where they are.

usage: python compile.py <SPARK_HOME>
"""

from __future__ import annotations

import importlib.util
import os
import sys
import zipfile
from importlib._bootstrap_external import _code_to_hash_pyc
from pathlib import Path


def compiled(source: bytes, name: str) -> bytes | None:
    """The content of a .pyc file, which is not compared with its source: archives round times to two seconds.

    None where this Python cannot compile the source, which it then says when it imports it.
    """
    try:
        code = compile(source, name, "exec", dont_inherit=True)
    except SyntaxError:
        return None
    return bytes(_code_to_hash_pyc(code, importlib.util.source_hash(source), checked=False))


def compile_archive(archive: Path) -> None:
    """Writes the archive anew, whole or not at all, with a .pyc file beside each .py file."""
    unfinished = archive.with_name(f"{archive.name}.{os.getpid()}")
    try:
        with zipfile.ZipFile(archive) as old, zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as new:
            for entry in old.infolist():
                if entry.filename.endswith(".pyc"):
                    continue
                content = old.read(entry)
                new.writestr(entry, content, zipfile.ZIP_DEFLATED)
                bytecode = compiled(content, entry.filename) if entry.filename.endswith(".py") else None
                if bytecode is not None:
                    place = zipfile.ZipInfo(f"{entry.filename}c", entry.date_time)
                    new.writestr(place, bytecode, zipfile.ZIP_DEFLATED)
        unfinished.chmod(archive.stat().st_mode & 0o777)
        unfinished.replace(archive)
    finally:
        unfinished.unlink(missing_ok=True)


if __name__ == "__main__":
    for path in sorted(Path(sys.argv[1], "python", "lib").glob("*.zip")):
        compile_archive(path)
