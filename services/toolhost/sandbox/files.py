"""Runs inside the sandbox: reads and writes files of the workspace. What is opened is checked after it was opened."""

import json
import os
import stat
import sys

ROOT = "/workspace"
request = json.load(sys.stdin)


def fail(message):
    sys.stderr.write(message)
    sys.exit(1)


def inside(fd, path):
    real = os.readlink(f"/proc/self/fd/{fd}")
    if real != ROOT and not real.startswith(ROOT + "/"):
        os.close(fd)
        fail(f"{path} lies outside of the workspace")
    return fd


def open_file(path, flags):
    fd = inside(os.open(os.path.join(ROOT, path), flags | os.O_NONBLOCK | os.O_CLOEXEC, 0o644), path)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        fail(f"{path} is no regular file")
    return fd


def read(path, offset, limit, most_bytes):
    fd = open_file(path, os.O_RDONLY)
    size = os.fstat(fd).st_size
    if size > most_bytes:
        fail(f"{path} has {size} bytes; at most {most_bytes} can be read")
    with os.fdopen(fd, "rb") as file:
        content = file.read(most_bytes + 1)
    text = content.decode("utf-8", errors="replace")
    if offset or limit is not None:
        lines = text.splitlines(keepends=True)
        end = len(lines) if limit is None else offset + limit
        text = "".join(lines[offset:end])
    sys.stdout.write(text)


def raw(path, most_bytes):
    fd = open_file(path, os.O_RDONLY)
    size = os.fstat(fd).st_size
    if size > most_bytes:
        fail(f"{path} has {size} bytes; at most {most_bytes} can be published")
    with os.fdopen(fd, "rb") as file:
        while chunk := file.read(1 << 16):
            sys.stdout.buffer.write(chunk)


def make_folders(path):
    """Opens each folder by its parent, so that no name can lead elsewhere between two steps."""
    at = inside(os.open(ROOT, os.O_RDONLY | os.O_DIRECTORY), path)
    for part in [part for part in os.path.dirname(path).split("/") if part not in ("", ".")]:
        if part == "..":
            fail(f"{path} lies outside of the workspace")
        try:
            os.mkdir(part, 0o755, dir_fd=at)
        except FileExistsError:
            pass
        at = inside(os.open(part, os.O_RDONLY | os.O_DIRECTORY, dir_fd=at), path)
    return at


def write(path, content):
    name = os.path.basename(path)
    if name in ("", ".", ".."):
        fail(f"{path} names no file")
    folder = make_folders(path)
    flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    fd = inside(os.open(name, flags, 0o644, dir_fd=folder), path)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        fail(f"{path} is no regular file")
    os.ftruncate(fd, 0)
    data = content.encode("utf-8", errors="surrogatepass")
    with os.fdopen(fd, "wb") as file:
        file.write(data)
    sys.stdout.write(f"wrote {len(data)} bytes to {path}")


try:
    path = request["path"]
    if os.path.isabs(path):
        if not path.startswith(ROOT + "/"):
            fail(f"{path} lies outside of the workspace; give a path relative to it")
        path = path[len(ROOT) + 1 :]
    if "\0" in path:
        fail("a path cannot have a NUL character")
    operation = request["operation"]
    if operation == "read":
        read(path, request["offset"], request["limit"], request["most_bytes"])
    elif operation == "raw":
        raw(path, request["most_bytes"])
    elif operation == "write":
        write(path, request["content"])
    else:
        fail(f"there is no operation {operation}")
except FileNotFoundError:
    fail(f"{request['path']} does not exist")
except IsADirectoryError:
    fail(f"{request['path']} is a folder")
except NotADirectoryError:
    fail(f"{request['path']} leads through a file")
except OSError as error:
    fail(f"{request['path']}: {error.strerror}")
