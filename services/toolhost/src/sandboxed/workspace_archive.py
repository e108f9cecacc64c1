"""The whole workspace as a tar stream, out and in. Follows workspace_paths.py in its program."""

import tarfile


def snapshot(most):
    """Files, folders and links as they are; nothing else. Who made them, and when, is not told."""
    given = 0

    def told(entry):
        nonlocal given
        given += entry.size
        if given > most:
            raise Complaint(f"the workspace has more than {most} bytes")
        entry.uid = entry.gid = entry.mtime = 0
        entry.uname = entry.gname = ""
        return entry if entry.isreg() or entry.isdir() or entry.issym() or entry.islnk() else None

    with tarfile.open(fileobj=sys.stdout.buffer, mode="w|", format=tarfile.PAX_FORMAT) as archive:
        for name in sorted(os.listdir(ROOT)):
            archive.add(os.path.join(ROOT, name), name, filter=told)
    sys.stdout.buffer.flush()


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


run(snapshot=snapshot, restore=restore)
