"""Paths of the workspace. The first part of each program that accesses its files in the sandbox.

Every folder of a path is opened one by one, starting from the workspace and without following links, so that a link that is
created in the meantime cannot lead out of the workspace. A Complaint is written to standard error, with exit code 2.
"""

import errno
import json
import os
import stat
import sys

# The working directory in which every program starts.
ROOT = os.getcwd()
# Path of the workspace in a sandbox and in texts for the model. It refers to the same folder if the workspace is elsewhere.
DEFAULT_ROOT = "/workspace"
# Number of bytes of a file that are inspected to determine whether it is text.
PROBE = 8192


class Complaint(Exception):
    """An error in the request, reported to the caller."""


def parts_of(path):
    if "\0" in path or path == "":
        raise Complaint("the path is empty or invalid")
    if path == DEFAULT_ROOT or path.startswith(DEFAULT_ROOT + "/"):
        path = ROOT + path[len(DEFAULT_ROOT) :]
    full = os.path.realpath(os.path.join(ROOT, path))
    if full != ROOT and not full.startswith(ROOT + "/"):
        raise Complaint(f"{path} is outside the workspace")
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
    # Without O_NONBLOCK, opening a named pipe would block forever.
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
        complain("the path or the text contains unpaired surrogates")
    except FileNotFoundError:
        complain(f"{about} does not exist")
    except OSError as error:
        complain(f"{about}: {error.strerror}")


def complain(about):
    sys.stdout.flush()
    sys.stderr.buffer.write(f"{about}\n".encode("utf-8", "backslashreplace"))
    sys.stderr.flush()
    os._exit(2)
