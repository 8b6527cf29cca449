"""Compiles PySpark and Py4J inside the archives that Spark's Python processes import them from.

Python does not cache the bytecode of modules that it imports from an archive, so each driver and the first Python
worker of each executor would compile some 70 modules, which takes about half a second. A Python of another version
still uses the sources, which stay where they are.

usage: python compile.py <SPARK_HOME>
"""

from __future__ import annotations

import importlib.util
import marshal
import os
import sys
import zipfile
from pathlib import Path


# By PEP 552, these flags say that the file has a hash of its source, which Python does not check.
UNCHECKED_HASH = (1).to_bytes(4, "little")


def pyc_content(source: bytes, path: str) -> bytes | None:
    """Returns the content of a .pyc file, or None if this Python cannot compile the source.

    An archive rounds times to two seconds, so the file is not compared with its source. A source that does not compile
    raises its error only when it is imported. Tracebacks show the path.
    """
    try:
        code = compile(source, path, "exec", dont_inherit=True)
    except SyntaxError:
        return None
    return importlib.util.MAGIC_NUMBER + UNCHECKED_HASH + importlib.util.source_hash(source) + marshal.dumps(code)


def compile_archive(archive: Path) -> None:
    """Replaces the archive atomically by one with a .pyc file beside each .py file."""
    temporary = archive.with_name(f"{archive.name}.{os.getpid()}")
    try:
        with zipfile.ZipFile(archive) as old, zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as new:
            for entry in old.infolist():
                if entry.filename.endswith(".pyc"):
                    continue
                content = old.read(entry)
                new.writestr(entry, content, zipfile.ZIP_DEFLATED)
                pyc = pyc_content(content, f"{archive}/{entry.filename}") if entry.filename.endswith(".py") else None
                if pyc is not None:
                    pyc_entry = zipfile.ZipInfo(f"{entry.filename}c", entry.date_time)
                    new.writestr(pyc_entry, pyc, zipfile.ZIP_DEFLATED)
        temporary.chmod(archive.stat().st_mode & 0o777)
        temporary.replace(archive)
    finally:
        temporary.unlink(missing_ok=True)


if __name__ == "__main__":
    archives = sorted(Path(sys.argv[1], "python", "lib").glob("*.zip"))
    if not archives:
        sys.exit(f"{sys.argv[1]} is no home of Spark: it has no archive in python/lib.")
    for path in archives:
        compile_archive(path)
