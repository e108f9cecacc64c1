"""File operations on the workspace, inside the sandbox. A complaint goes to standard error, with exit code 2.

Every folder on the way is opened without following links, from the workspace on: a link that appears in between cannot
lead out of it.
"""

import json
import os
import stat
import sys

ROOT = "/workspace"


class Complaint(Exception):
    pass


def parts_of(path):
    if "\0" in path or path == "":
        raise Complaint("the path is empty or not valid")
    full = os.path.realpath(os.path.join(ROOT, path))
    if full != ROOT and not full.startswith(ROOT + "/"):
        raise Complaint(f"{path} lies outside of the workspace")
    return [part for part in full[len(ROOT) :].split("/") if part]


def folder_of(parts, create):
    here = os.open(ROOT, os.O_RDONLY | os.O_DIRECTORY)
    for part in parts:
        if create:
            try:
                os.mkdir(part, 0o755, dir_fd=here)
            except FileExistsError:
                pass
        below = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=here)
        os.close(here)
        here = below
    return here


def open_file(path, flags, create=False):
    parts = parts_of(path)
    if not parts:
        raise Complaint(f"{path} is a folder")
    folder = folder_of(parts[:-1], create)
    # Without O_NONBLOCK a named pipe would hold us for ever.
    fd = os.open(parts[-1], flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o644, dir_fd=folder)
    mode = os.fstat(fd).st_mode
    if stat.S_ISDIR(mode):
        raise Complaint(f"{path} is a folder")
    if not stat.S_ISREG(mode):
        raise Complaint(f"{path} is not a regular file")
    return fd


def read(path, offset, limit, most):
    """Lines of a text file, as they are."""
    fd = open_file(path, os.O_RDONLY)
    size = os.fstat(fd).st_size
    if limit is None and offset == 0 and size > most:
        raise Complaint(f"{path} has {size} bytes, more than the {most} that can be read; give offset and limit in lines")
    given = 0
    with os.fdopen(fd, "rb") as file:
        if b"\0" in file.read(8192):
            raise Complaint(f"{path} is not a text file")
        file.seek(0)
        number = 0
        while limit is None or number < offset + limit:
            line = file.readline(most + 1)
            if not line:
                break
            number += 1
            if number <= offset:
                while line and not line.endswith(b"\n"):
                    line = file.readline(most + 1)
                continue
            given += len(line)
            if given > most:
                raise Complaint(f"these lines of {path} have more than {most} bytes; ask for fewer")
            sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()


def write(path):
    fd = open_file(path, os.O_WRONLY | os.O_CREAT, create=True)
    os.ftruncate(fd, 0)
    written = 0
    with os.fdopen(fd, "wb") as file:
        while chunk := sys.stdin.buffer.read(1 << 20):
            file.write(chunk)
            written += len(chunk)
    print(json.dumps({"bytes": written}))


def dump(path):
    with os.fdopen(open_file(path, os.O_RDONLY), "rb") as file:
        while chunk := file.read(1 << 20):
            sys.stdout.buffer.write(chunk)
    sys.stdout.buffer.flush()


def main():
    request = json.loads(sys.argv[1])
    operation = request.pop("operation")
    try:
        {"read": read, "write": write, "dump": dump}[operation](**request)
    except Complaint as complaint:
        print(complaint, file=sys.stderr)
        sys.exit(2)
    except FileNotFoundError:
        print(f"{request['path']} does not exist", file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        print(f"{request['path']}: {error.strerror}", file=sys.stderr)
        sys.exit(2)


main()
