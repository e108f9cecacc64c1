"""Paths of the workspace, inside the sandbox; the first part of each program over its files.

Every folder on the way is opened without following links, from the workspace on: a link that appears in between cannot
lead out of it. A complaint goes to standard error, with exit code 2.
"""

import errno
import json
import os
import stat
import sys

# The folder in which every program begins.
ROOT = os.getcwd()
# What it is called in a sandbox, and to whoever reads of it. It is the same folder where it lies elsewhere.
USUAL = "/workspace"
# How much of a file is looked at to tell whether it is text.
PROBE = 8192


class Complaint(Exception):
    pass


def parts_of(path):
    if "\0" in path or path == "":
        raise Complaint("the path is empty or not valid")
    if path == USUAL or path.startswith(USUAL + "/"):
        path = ROOT + path[len(USUAL) :]
    full = os.path.realpath(os.path.join(ROOT, path))
    if full != ROOT and not full.startswith(ROOT + "/"):
        raise Complaint(f"{path} lies outside of the workspace")
    return [part for part in full[len(ROOT) :].split("/") if part]


def folder_of(parts, create=False):
    here = os.open(ROOT, os.O_RDONLY | os.O_DIRECTORY)
    for part in parts:
        try:
            if create:
                make_folder(here, part)
            below = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=here)
        finally:
            os.close(here)
        here = below
    return here


def make_folder(here, name):
    try:
        os.mkdir(name, 0o755, dir_fd=here)
    except FileExistsError:
        pass


def open_file(path, flags, create=False):
    parts = parts_of(path)
    if not parts:
        raise Complaint(f"{path} is a folder")
    folder = folder_of(parts[:-1], create)
    try:
        return open_in(folder, parts[-1], flags, path)
    finally:
        os.close(folder)


def open_in(folder, name, flags, path):
    # Without O_NONBLOCK a named pipe would hold us for ever.
    fd = os.open(name, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o644, dir_fd=folder)
    mode = os.fstat(fd).st_mode
    if not stat.S_ISREG(mode):
        os.close(fd)
        raise Complaint(f"{path} is a folder" if stat.S_ISDIR(mode) else f"{path} is not a regular file")
    return fd


def run(**operations):
    request = json.loads(sys.argv[1])
    operation = request.pop("operation")
    about = request.get("path", "the archive")
    try:
        operations[operation](**request)
        sys.stdout.flush()
    except Complaint as complaint:
        complain(complaint)
    except UnicodeError:
        complain("the path or the text holds halves of characters")
    except FileNotFoundError:
        complain(f"{about} does not exist")
    except OSError as error:
        complain(f"{about}: {error.strerror}")


def complain(about):
    sys.stdout.flush()
    sys.stderr.buffer.write(f"{about}\n".encode("utf-8", "backslashreplace"))
    sys.stderr.flush()
    os._exit(2)
