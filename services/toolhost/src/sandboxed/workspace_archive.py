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


def restore(links_out):
    """Lays an archive in. No entry leads out of the workspace, nor goes through a link: folders are opened one by one.

    Links that lead out are left out unless they are wanted.
    """
    above, folder = None, None
    with tarfile.open(fileobj=sys.stdin.buffer, mode="r|", bufsize=1 << 20) as archive:
        for entry in archive:
            *wanted, name = inner_parts(entry.name)
            # What lies in one folder mostly comes together.
            if wanted != above:
                if folder is not None:
                    os.close(folder)
                above, folder = wanted, folder_of(wanted, create=True)
            lay(archive, entry, folder, name, links_out)


def lay(archive, entry, folder, name, links_out):
    if entry.isdir():
        make_folder(folder, name)
        below = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
        # Whatever its rights, what lies in it comes after it.
        os.fchmod(below, entry.mode & 0o777 | 0o300)
        os.close(below)
    elif entry.isreg():
        take_away(folder, name)
        fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600, dir_fd=folder)
        with os.fdopen(fd, "wb") as file:
            source = archive.extractfile(entry)
            while chunk := source.read(1 << 20):
                file.write(chunk)
            os.fchmod(fd, entry.mode & 0o777)
    elif entry.issym() and (links_out or leads_within(entry)):
        take_away(folder, name)
        os.symlink(entry.linkname, name, dir_fd=folder)
    elif entry.islnk():
        *above, other = inner_parts(entry.linkname)
        beside = folder_of(above)
        try:
            # Opened, so that it is known for a file before it gets another name.
            os.close(open_in(beside, other, os.O_RDONLY, entry.linkname))
            take_away(folder, name)
            os.link(other, name, src_dir_fd=beside, dst_dir_fd=folder, follow_symlinks=False)
        finally:
            os.close(beside)


def inner_parts(name):
    """The folders and the name of an entry, which has to lie in the workspace by its words alone."""
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if name.startswith("/") or ".." in parts or not parts:
        raise Complaint(f"{name} lies outside of the workspace")
    return parts


def leads_within(entry):
    """Whether a link leads into the workspace by its words; another link on its way is looked at when it is used."""
    full = os.path.normpath(os.path.join("/", "w", os.path.dirname(entry.name), entry.linkname))
    return not entry.linkname.startswith("/") and full.startswith("/w/")


def take_away(folder, name):
    try:
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        pass


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
