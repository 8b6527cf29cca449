"""Compiles PySpark and Py4J where Spark's processes import them from: archives in its folder.

Python keeps no compiled code of what it imports from an archive, so each driver and each worker of an executor would
compile some 70 modules, which takes about half a second. A Python of another version goes on with the sources, which
stay where they are.

usage: python compile.py <SPARK_HOME>
"""

from __future__ import annotations

import importlib.util
import marshal
import os
import sys
import zipfile
from pathlib import Path


# PEP 552: the file has a hash of its source, which Python does not check.
UNCHECKED_HASH = (1).to_bytes(4, "little")


def compiled(source: bytes, path: str) -> bytes | None:
    """The content of a .pyc file, which is not compared with its source: archives round times to two seconds.

    None where this Python cannot compile the source, which it then says when it imports it. Tracebacks name the path.
    """
    try:
        code = compile(source, path, "exec", dont_inherit=True)
    except SyntaxError:
        return None
    return importlib.util.MAGIC_NUMBER + UNCHECKED_HASH + importlib.util.source_hash(source) + marshal.dumps(code)


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
                bytecode = compiled(content, f"{archive}/{entry.filename}") if entry.filename.endswith(".py") else None
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
