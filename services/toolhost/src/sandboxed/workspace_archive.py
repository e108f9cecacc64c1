"""The whole workspace as a tar stream, out and in. Follows workspace_paths.py in its program."""

import tarfile

# How much is read and written at a time.
CHUNK = 1 << 20


def snapshot(most):
    """Files, folders and links as they are; nothing else. Who made them, and when, is not told."""
    # Not by tarfile's own walk: it asks for the names of users for each file, and ends at what is nested deeply.
    out = open(sys.stdout.fileno(), "wb", buffering=CHUNK, closefd=False)
    given = 0
    linked = {}
    pending = [("", name) for name in sorted(os.listdir(ROOT), reverse=True)]
    while pending:
        above, name = pending.pop()
        path = os.path.join(above, name)
        try:
            entry, below = described(path, linked)
            if entry is None:
                continue
            given += entry.size
            if given > most:
                raise Complaint(f"the workspace has more than {most} bytes")
            if entry.isreg():
                add_file(out, entry, path)
            else:
                out.write(entry.tobuf(tarfile.PAX_FORMAT))
            pending.extend((path, each) for each in sorted(below, reverse=True))
        except FileNotFoundError:
            # A call that began meanwhile took it away.
            continue
    out.write(bytes(2 * tarfile.BLOCKSIZE))
    out.flush()


def described(path, linked):
    """What is at a path, and the names below it. What its owner cannot read is made readable for him."""
    full = os.path.join(ROOT, path)
    about = os.lstat(full)
    entry = tarfile.TarInfo(path)
    entry.mode = stat.S_IMODE(about.st_mode)
    if stat.S_ISLNK(about.st_mode):
        entry.type = tarfile.SYMTYPE
        entry.linkname = os.readlink(full)
        return entry, ()
    if stat.S_ISDIR(about.st_mode):
        entry.type = tarfile.DIRTYPE
        entry.mode |= stat.S_IRWXU
        if entry.mode != stat.S_IMODE(about.st_mode):
            os.chmod(full, entry.mode)
        return entry, os.listdir(full)
    if not stat.S_ISREG(about.st_mode):
        return None, ()
    first = linked.setdefault((about.st_dev, about.st_ino), path) if about.st_nlink > 1 else path
    if first != path:
        entry.type = tarfile.LNKTYPE
        entry.linkname = first
        return entry, ()
    if not entry.mode & stat.S_IRUSR:
        entry.mode |= stat.S_IRUSR
        os.chmod(full, entry.mode)
    entry.size = about.st_size
    return entry, ()


def add_file(out, entry, path):
    """A file with as many bytes as were announced: one that grows is cut, one that shrinks is filled with zeros."""
    fd = os.open(os.path.join(ROOT, path), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        out.write(entry.tobuf(tarfile.PAX_FORMAT))
        left = entry.size
        while left > 0:
            chunk = os.read(fd, min(left, CHUNK)) or bytes(min(left, CHUNK))
            out.write(chunk)
            left -= len(chunk)
        out.write(bytes(-entry.size % tarfile.BLOCKSIZE))
    finally:
        os.close(fd)


def restore():
    """Lays an archive in. No entry leads out of the workspace: this runs where nothing else is to be reached."""
    with tarfile.open(fileobj=sys.stdin.buffer, mode="r|", bufsize=CHUNK) as archive:
        for entry in archive:
            if not (entry.isreg() or entry.isdir() or entry.issym() or entry.islnk()):
                continue
            full = os.path.normpath(os.path.join(ROOT, entry.name))
            if not full.startswith(ROOT + "/"):
                raise Complaint(f"{entry.name} lies outside of the workspace")
            entry.mode &= 0o777
            archive.extract(entry, ROOT, numeric_owner=True)


def clear():
    """Takes everything away. Folders are moved up before they are emptied, so that no depth is too much."""
    count = 0
    while entries := list(os.scandir(ROOT)):
        for entry in entries:
            if not entry.is_dir(follow_symlinks=False):
                os.unlink(entry.path)
                continue
            os.chmod(entry.path, 0o700)
            for below in list(os.scandir(entry.path)):
                if below.is_dir(follow_symlinks=False):
                    os.chmod(below.path, 0o700)
                    count += 1
                    os.rename(below.path, os.path.join(ROOT, f".reeve-{os.urandom(8).hex()}-{count}"))
                else:
                    os.unlink(below.path)
            os.rmdir(entry.path)


run(snapshot=snapshot, restore=restore, clear=clear)
