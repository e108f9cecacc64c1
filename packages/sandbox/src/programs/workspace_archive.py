"""Writes the workspace as a tar stream, and restores it. Concatenated after workspace_paths.py."""

import tarfile

# Number of bytes that are read and written at a time.
CHUNK = 1 << 20
# Maximum nesting depth of folders. Each folder is opened starting from the workspace.
MAX_DEPTH = 2048
# Number of bytes of a path that do not count toward the size of the workspace.
FREE_PATH_BYTES = 2048
# Errors of opening a folder that was replaced or removed.
GONE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)


def snapshot(most):
    """Writes files, folders, and links. Omits everything else, and also owners and times."""
    refuse_if_over(most)
    # tarfile's own walk is not used, because it looks up user names for each file and fails on deeply nested folders.
    out = open(sys.stdout.fileno(), "wb", buffering=CHUNK, closefd=False)
    written = 0
    linked = {}
    for folder, name, path, about in walk():
        entry, fd = None, None
        try:
            entry = entry_of(folder, name, path, about, linked)
            if entry is not None and entry.isreg():
                fd = open_to_read(folder, name)
        except OSError:
            # A call that started in the meantime removed or replaced the file.
            if is_same(folder, name, about):
                raise
            continue
        if entry is None or (entry.isreg() and fd is None):
            continue
        if fd is None:
            out.write(entry.tobuf(tarfile.PAX_FORMAT))
            continue
        try:
            entry.size = os.fstat(fd).st_size
            written += entry.size
            if written > most:
                raise too_large(most)
            add_file(out, entry, fd)
            # Hard links can refer to the file only after it was written.
            linked.setdefault((about.st_dev, about.st_ino), path)
        finally:
            os.close(fd)
    out.write(bytes(2 * tarfile.BLOCKSIZE))
    out.flush()


def refuse_if_over(most):
    """Computes the size before the first byte is written, so that no part of a workspace that is too large is stored."""
    size = 0
    known = set()
    for _, _, path, about in walk():
        size += max(0, len(os.fsencode(path)) - FREE_PATH_BYTES)
        key = (about.st_dev, about.st_ino)
        if stat.S_ISREG(about.st_mode) and key not in known:
            known.add(key)
            size += about.st_size
        if size > most:
            raise too_large(most)


def too_large(most):
    return Complaint(f"the workspace exceeds {most} bytes")


def walk():
    """Yields every entry as (open folder, name, path, lstat result). A folder precedes its contents."""
    pending = [()]
    while pending:
        above = pending.pop()
        if len(above) > MAX_DEPTH:
            raise Complaint(f"the workspace has folders that are nested more than {MAX_DEPTH} levels deep")
        try:
            folder = folder_of(above)
        except OSError as error:
            if error.errno in GONE:
                continue
            raise
        below = []
        try:
            for name in sorted(os.listdir(folder)):
                try:
                    about = readable(folder, name)
                except FileNotFoundError:
                    continue
                if stat.S_ISDIR(about.st_mode):
                    below.append((*above, name))
                yield folder, name, "/".join((*above, name)), about
        finally:
            os.close(folder)
        pending.extend(reversed(below))


def readable(folder, name):
    """Returns the lstat result of a name. Makes a file or folder readable that its owner cannot read."""
    about = os.lstat(name, dir_fd=folder)
    wanted = stat.S_IRWXU if stat.S_ISDIR(about.st_mode) else stat.S_IRUSR
    if not stat.S_ISDIR(about.st_mode) and not stat.S_ISREG(about.st_mode):
        return about
    if about.st_mode & wanted == wanted:
        return about
    os.chmod(name, stat.S_IMODE(about.st_mode) | wanted, dir_fd=folder)
    return os.lstat(name, dir_fd=folder)


def is_same(folder, name, about):
    """Returns whether a name still refers to the same file."""
    try:
        there = os.lstat(name, dir_fd=folder)
    except FileNotFoundError:
        return False
    return os.path.samestat(there, about) and stat.S_IFMT(there.st_mode) == stat.S_IFMT(about.st_mode)


def entry_of(folder, name, path, about, linked):
    """Returns the archive entry of a path, or None if it is not archived."""
    entry = tarfile.TarInfo(path)
    entry.mode = stat.S_IMODE(about.st_mode)
    if stat.S_ISLNK(about.st_mode):
        entry.type = tarfile.SYMTYPE
        entry.linkname = os.readlink(name, dir_fd=folder)
    elif stat.S_ISDIR(about.st_mode):
        entry.type = tarfile.DIRTYPE
    elif not stat.S_ISREG(about.st_mode):
        return None
    elif first := linked.get((about.st_dev, about.st_ino)):
        entry.type = tarfile.LNKTYPE
        entry.linkname = first
    return entry


def open_to_read(folder, name):
    """Returns the open file, or None if it is no longer a regular file."""
    fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    if stat.S_ISREG(os.fstat(fd).st_mode):
        return fd
    os.close(fd)
    return None


def add_file(out, entry, fd):
    """Writes exactly as many bytes as the entry declares. Truncates a file that grew, and pads one that shrank with zeros."""
    out.write(entry.tobuf(tarfile.PAX_FORMAT))
    left = entry.size
    while left > 0:
        chunk = os.read(fd, min(left, CHUNK)) or bytes(min(left, CHUNK))
        out.write(chunk)
        left -= len(chunk)
    out.write(bytes(-entry.size % tarfile.BLOCKSIZE))


def restore(links_out):
    """Extracts an archive. No entry can leave the workspace or follow a link, because folders are opened one by one.

    Links that point outside the workspace are skipped unless `links_out` is set.
    """
    above, folder = None, None
    with tarfile.open(fileobj=sys.stdin.buffer, mode="r|", bufsize=1 << 20) as archive:
        for entry in archive:
            *wanted, name = inner_parts(entry.name)
            # Entries of the same folder are usually adjacent, so the folder stays open.
            if wanted != above:
                if folder is not None:
                    os.close(folder)
                above, folder = wanted, folder_of(wanted, create=True)
            extract(archive, entry, folder, name, links_out)


def extract(archive, entry, folder, name, links_out):
    if entry.isdir():
        make_folder(folder, name)
        below = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
        # The owner needs write access, because the contents of the folder follow.
        os.fchmod(below, entry.mode & 0o777 | 0o300)
        os.close(below)
    elif entry.isreg():
        remove_existing(folder, name)
        fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600, dir_fd=folder)
        with os.fdopen(fd, "wb") as file:
            source = archive.extractfile(entry)
            while chunk := source.read(1 << 20):
                file.write(chunk)
            os.fchmod(fd, entry.mode & 0o777)
    elif entry.issym() and (links_out or points_inside(entry)):
        remove_existing(folder, name)
        os.symlink(entry.linkname, name, dir_fd=folder)
    elif entry.islnk():
        try:
            extract_link(entry, folder, name)
        except FileNotFoundError:
            # The target was removed while the archive was being written.
            pass


def extract_link(entry, folder, name):
    *above, other = inner_parts(entry.linkname)
    beside = folder_of(above)
    try:
        # Opened to check that the target is a regular file before linking to it.
        os.close(open_in(beside, other, os.O_RDONLY, entry.linkname))
        remove_existing(folder, name)
        os.link(other, name, src_dir_fd=beside, dst_dir_fd=folder, follow_symlinks=False)
    finally:
        os.close(beside)


def inner_parts(name):
    """Returns the folders and the name of an entry. The path must be lexically inside the workspace."""
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if name.startswith("/") or ".." in parts or not parts:
        raise Complaint(f"{name} is outside the workspace")
    return parts


def points_inside(entry):
    """Returns whether a link is lexically inside the workspace. Further links on its path are checked when it is used."""
    full = os.path.normpath(os.path.join("/", "w", os.path.dirname(entry.name), entry.linkname))
    return not entry.linkname.startswith("/") and full.startswith("/w/")


def remove_existing(folder, name):
    try:
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        pass


def clear():
    """Removes everything. Folders are moved to the top level before they are emptied, so that any nesting depth works."""
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
