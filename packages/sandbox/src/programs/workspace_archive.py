"""The whole workspace as a tar stream, out and in. Follows workspace_paths.py in its program."""

import tarfile

# How much is read and written at a time.
CHUNK = 1 << 20
# How deeply folders may lie in each other: each is opened from the workspace on.
DEEPEST = 2048
# What an entry may hold of names without their counting as bytes of the workspace.
NAMES = 2048
# What is found of a folder that was exchanged or taken away.
GONE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)


def snapshot(most):
    """Files, folders and links as they are; nothing else. Who made them, and when, is not told."""
    refuse_if_over(most)
    # Not by tarfile's own walk: it asks for the names of users for each file, and ends at what is nested deeply.
    out = open(sys.stdout.fileno(), "wb", buffering=CHUNK, closefd=False)
    given = 0
    linked = {}
    for folder, name, path, about in found():
        entry, fd = None, None
        try:
            entry = described(folder, name, path, about, linked)
            if entry is not None and entry.isreg():
                fd = open_to_read(folder, name)
        except OSError:
            # A call that began meanwhile took it away, or put something else there.
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
            given += entry.size
            if given > most:
                raise too_large(most)
            add_file(out, entry, fd)
            # Only from here on another name may lead to it.
            linked.setdefault((about.st_dev, about.st_ino), path)
        finally:
            os.close(fd)
    out.write(bytes(2 * tarfile.BLOCKSIZE))
    out.flush()


def refuse_if_over(most):
    """Adds up everything before the first byte is given, so that nothing is stored of what is too large."""
    size = 0
    known = set()
    for _, _, path, about in found():
        size += max(0, len(os.fsencode(path)) - NAMES)
        key = (about.st_dev, about.st_ino)
        if stat.S_ISREG(about.st_mode) and key not in known:
            known.add(key)
            size += about.st_size
        if size > most:
            raise too_large(most)


def too_large(most):
    return Complaint(f"the workspace has more than {most} bytes")


def found():
    """Everything there is, a folder before what is in it: the open folder, the name, the path, and what it is."""
    pending = [()]
    while pending:
        above = pending.pop()
        if len(above) > DEEPEST:
            raise Complaint(f"the workspace has more than {DEEPEST} folders in each other")
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
    """What a name stands for. What its owner cannot read is made readable for him."""
    about = os.lstat(name, dir_fd=folder)
    wanted = stat.S_IRWXU if stat.S_ISDIR(about.st_mode) else stat.S_IRUSR
    if not stat.S_ISDIR(about.st_mode) and not stat.S_ISREG(about.st_mode):
        return about
    if about.st_mode & wanted == wanted:
        return about
    os.chmod(name, stat.S_IMODE(about.st_mode) | wanted, dir_fd=folder)
    return os.lstat(name, dir_fd=folder)


def is_same(folder, name, about):
    """Whether a name still stands for what it stood for."""
    try:
        there = os.lstat(name, dir_fd=folder)
    except FileNotFoundError:
        return False
    return os.path.samestat(there, about) and stat.S_IFMT(there.st_mode) == stat.S_IFMT(about.st_mode)


def described(folder, name, path, about, linked):
    """The entry of what is at a path, or nothing for what is not taken along."""
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
    """The open file, or nothing when it is no regular one any more."""
    fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    if stat.S_ISREG(os.fstat(fd).st_mode):
        return fd
    os.close(fd)
    return None


def add_file(out, entry, fd):
    """A file with as many bytes as were announced: one that grows is cut, one that shrinks is filled with zeros."""
    out.write(entry.tobuf(tarfile.PAX_FORMAT))
    left = entry.size
    while left > 0:
        chunk = os.read(fd, min(left, CHUNK)) or bytes(min(left, CHUNK))
        out.write(chunk)
        left -= len(chunk)
    out.write(bytes(-entry.size % tarfile.BLOCKSIZE))


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
        try:
            lay_link(entry, folder, name)
        except FileNotFoundError:
            # What it should be another name of was taken away while the archive was made.
            pass


def lay_link(entry, folder, name):
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
