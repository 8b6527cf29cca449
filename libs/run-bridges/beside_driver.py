"""Puts a run's files and archives into the working directory, where executors have them, and then becomes the run.

Usage: beside_driver.py DESCRIPTION PROGRAM [ARGUMENT]...; the description is a JSON file. It runs in the sandbox of the run and with the
same rights, so an archive can do nothing that the run itself could not.
"""

import json
import os
import shutil
import signal
import stat
import sys
import tarfile
import zipfile

TARS = (".tar.gz", ".tgz", ".tar")
ZIPS = (".zip", ".jar")


def within(folder, name):
    """Returns the path of an archive's entry. Refuses entries that lead outside, by their names or by links before them."""
    path = os.path.join(folder, name)
    parent = os.path.realpath(os.path.dirname(path.rstrip("/")))
    if os.path.commonpath([folder, parent]) != folder or os.path.basename(path.rstrip("/")) == "..":
        raise ValueError("its entry %r leads out of it" % name)
    return path


def untar(file, folder):
    # Versions before 3.12 have no filter, and later ones warn without one.
    trusted = {"filter": "fully_trusted"} if hasattr(tarfile, "fully_trusted_filter") else {}
    folders = []
    with tarfile.open(file) as archive:
        for entry in archive:
            entry.name = entry.name.lstrip("/")
            if os.path.normpath(entry.name) == "." or not (entry.isreg() or entry.isdir() or entry.issym() or entry.islnk()):
                continue
            within(folder, entry.name)
            if entry.islnk():
                within(folder, entry.linkname)
            if entry.isdir():
                # The final mode is set after the content is written.
                folders.append((os.path.join(folder, entry.name), entry.mode & 0o777))
                entry.mode = 0o700
            else:
                entry.mode &= 0o777
            entry.uid, entry.gid, entry.uname, entry.gname = os.getuid(), os.getgid(), "", ""
            archive.extract(entry, folder, **trusted)
    for path, mode in folders:
        os.chmod(path, mode | 0o700)


def unzip(file, folder):
    with zipfile.ZipFile(file) as archive:
        for entry in archive.infolist():
            path = within(folder, entry.filename.lstrip("/"))
            mode = entry.external_attr >> 16
            if stat.S_ISLNK(mode):
                os.makedirs(os.path.dirname(path), exist_ok=True)
                os.symlink(archive.read(entry).decode(), path)
                continue
            written = archive.extract(entry, folder)
            if mode & 0o777:
                os.chmod(written, mode & 0o777 | (0o700 if entry.is_dir() else 0))


def unpack(file, name):
    """Unpacks like Spark, by the ending of the name. Other files are linked."""
    lower = file.lower()
    if not lower.endswith(TARS + ZIPS):
        os.symlink(file, name)
        return
    os.mkdir(name, 0o700)
    try:
        (untar if lower.endswith(TARS) else unzip)(file, os.path.realpath(name))
    except BaseException:
        shutil.rmtree(name, ignore_errors=True)
        raise


def main(description, program):
    with open(description, encoding="utf-8") as text:
        wanted = json.load(text)
    for kind, put in (("files", os.symlink), ("archives", unpack)):
        for file, name in wanted[kind]:
            try:
                if not os.path.lexists(name):
                    put(file, name)
            except Exception as error:
                # The run may not need it, and Spark reports more when it unpacks the archive itself.
                print("%s is not in the working directory of the driver: %s" % (name, error), file=sys.stderr, flush=True)
    # Python ignores these signals, which end other programs.
    for name in ("SIGPIPE", "SIGXFSZ"):
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    os.execv(program[0], program)


main(sys.argv[1], sys.argv[2:])
